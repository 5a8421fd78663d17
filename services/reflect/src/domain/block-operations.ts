import type { Block, Document, Section } from "./document.ts";

/** One change of a document. Ids are those of the document as it was read; what is added by an earlier change has none. */
export type BlockOperation =
  | { readonly op: "append_block"; readonly sectionId: string; readonly text: string }
  /** Puts a block behind another one. */
  | { readonly op: "insert_block"; readonly blockId: string; readonly text: string }
  | { readonly op: "replace_block"; readonly blockId: string; readonly text: string }
  | { readonly op: "remove_block"; readonly blockId: string }
  /** Puts a section at the end. */
  | { readonly op: "add_section"; readonly heading: string; readonly level: number; readonly blocks: readonly string[] }
  | { readonly op: "remove_section"; readonly sectionId: string }
  | { readonly op: "replace_section_blocks"; readonly sectionId: string; readonly blocks: readonly string[] }
  | { readonly op: "rename_section"; readonly sectionId: string; readonly heading: string };

export interface Applied {
  readonly document: Document;
  readonly appliedCount: number;
  /** Changes of blocks or sections that are not there (any more). */
  readonly skippedCount: number;
}

/** Applies changes in order. Sections that lose their last block go, too. */
export function applyOperations(document: Document, operations: readonly BlockOperation[]): Applied {
  let sections = document.sections;
  let appliedCount = 0;
  for (const operation of operations) {
    const changed = applyOne(sections, operation);
    if (changed === undefined) continue;
    sections = changed;
    appliedCount += 1;
  }
  return {
    document: { sections: sections.filter(({ blocks }) => blocks.length > 0) },
    appliedCount,
    skippedCount: operations.length - appliedCount,
  };
}

const added = (text: string): Block => ({ id: "", text });
const nonEmpty = (texts: readonly string[]): Block[] => texts.filter((text) => text.trim() !== "").map(added);

/** The sections after the change, or `undefined` when its target is unknown or it would put in nothing. */
function applyOne(sections: readonly Section[], operation: BlockOperation): readonly Section[] | undefined {
  switch (operation.op) {
    case "append_block":
      if (operation.text.trim() === "") return undefined;
      return changeSection(sections, operation.sectionId, (section) => [
        { ...section, blocks: [...section.blocks, added(operation.text)] },
      ]);
    case "insert_block":
      if (operation.text.trim() === "") return undefined;
      return changeBlock(sections, operation.blockId, (block) => [block, added(operation.text)]);
    case "replace_block":
      if (operation.text.trim() === "") return undefined;
      return changeBlock(sections, operation.blockId, (block) => [{ ...block, text: operation.text }]);
    case "remove_block":
      return changeBlock(sections, operation.blockId, () => []);
    case "add_section": {
      const blocks = nonEmpty(operation.blocks);
      if (blocks.length === 0 || operation.heading.trim() === "") return undefined;
      const level = Math.min(Math.max(Math.trunc(operation.level) || 2, 1), 6);
      return [...sections, { id: "", heading: operation.heading.trim(), level, blocks }];
    }
    case "remove_section":
      return changeSection(sections, operation.sectionId, () => []);
    case "replace_section_blocks": {
      const blocks = nonEmpty(operation.blocks);
      return blocks.length === 0
        ? undefined
        : changeSection(sections, operation.sectionId, (section) => [{ ...section, blocks }]);
    }
    case "rename_section":
      if (operation.heading.trim() === "") return undefined;
      return changeSection(sections, operation.sectionId, (section) => [{ ...section, heading: operation.heading.trim() }]);
  }
}

function changeSection(sections: readonly Section[], id: string, change: (section: Section) => Section[]): Section[] | undefined {
  if (id === "" || !sections.some((section) => section.id === id)) return undefined;
  return sections.flatMap((section) => (section.id === id ? change(section) : [section]));
}

function changeBlock(sections: readonly Section[], id: string, change: (block: Block) => Block[]): Section[] | undefined {
  const home = sections.find(({ blocks }) => blocks.some((block) => block.id === id));
  if (id === "" || !home) return undefined;
  const blocks = home.blocks.flatMap((block) => (block.id === id ? change(block) : [block]));
  return sections.map((section) => (section === home ? { ...home, blocks } : section));
}
