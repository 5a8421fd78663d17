/** A Markdown text as sections and blocks, so that parts of it can be changed without touching the others. */
export interface Document {
  readonly sections: readonly Section[];
}

export interface Section {
  /** Unique in the document, given in reading order: `s1`, `s2`... */
  readonly id: string;
  /** `null` for what stands before the first heading. */
  readonly heading: string | null;
  /** 1 to 6, the number of `#`. */
  readonly level: number;
  readonly blocks: readonly Block[];
}

/** A paragraph, an item of a list with what is indented below it, a table, or a fenced piece of code. */
export interface Block {
  readonly id: string;
  readonly text: string;
}

const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const FENCE = /^\s{0,3}(```+|~~~+)/;

/** Reads a text; `undefined` when it cannot be taken apart safely (code that is fenced off and never ends). */
export function parseDocument(markdown: string): Document | undefined {
  const sections: { heading: string | null; level: number; blocks: string[] }[] = [{ heading: null, level: 1, blocks: [] }];
  let block: string[] = [];
  let fence: string | undefined;
  const endBlock = () => {
    const text = block.join("\n").trimEnd();
    if (text.trim() !== "") sections.at(-1)!.blocks.push(text);
    block = [];
  };
  for (const line of markdown.split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      block.push(line);
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading) {
      endBlock();
      sections.push({ heading: heading[2]!, level: heading[1]!.length, blocks: [] });
      continue;
    }
    if (mark !== undefined) fence = mark;
    if (line.trim() === "") {
      endBlock();
      continue;
    }
    if (LIST_ITEM.test(line)) endBlock();
    block.push(line);
  }
  if (fence !== undefined) return undefined;
  endBlock();
  return withIds(sections.filter(({ heading, blocks }) => heading !== null || blocks.length > 0));
}

/** The document as Markdown: items of one list on adjacent lines, everything else with an empty line between. */
export function renderDocument({ sections }: Document): string {
  return sections
    .map(({ heading, level, blocks }) => {
      const body = blocks.reduce((text, block, i) => {
        if (i === 0) return block.text;
        const isSameList = LIST_ITEM.test(block.text) && LIST_ITEM.test(blocks[i - 1]!.text);
        return `${text}${isSameList ? "\n" : "\n\n"}${block.text}`;
      }, "");
      const title = heading === null ? "" : `${"#".repeat(level)} ${heading}`;
      return [title, body].filter((part) => part !== "").join("\n\n");
    })
    .join("\n\n");
}

function withIds(sections: readonly { heading: string | null; level: number; blocks: readonly string[] }[]): Document {
  let blocks = 0;
  return {
    sections: sections.map((section, i) => ({
      ...section,
      id: `s${i + 1}`,
      blocks: section.blocks.map((text) => {
        blocks += 1;
        return { id: `b${blocks}`, text };
      }),
    })),
  };
}
