import type { Fact } from "./answer.ts";
import type { BlockOperation } from "./block-operations.ts";
import type { Document } from "./document.ts";
import { EARLIER_HEADING, lineOf, type RetrievedFact } from "./local-answer.ts";

export interface LocalDelta {
  readonly operations: readonly BlockOperation[];
  /** What the changed document rests on. */
  readonly facts: readonly Fact[];
}

export interface DeltaInput {
  readonly document: Document;
  /** What the document rests on now. */
  readonly cited: readonly Fact[];
  /** Cited facts that no longer exist. */
  readonly goneIds: ReadonlySet<string>;
  /** Facts that speak of the question, best first. */
  readonly found: readonly RetrievedFact[];
}

/**
 * How a list of facts follows its memories: lines of facts that are gone or say something else now go, lines of facts that
 * were replaced move under the heading of earlier facts, and new facts get a line. All other lines stay as they are.
 */
export function proposeLocalDelta({ document, cited, goneIds, found }: DeltaInput): LocalDelta {
  const citedIds = new Set(cited.map(({ id }) => id));
  const foundById = new Map(found.map((fact) => [fact.id, fact]));
  const added = found.filter(({ id }) => !citedIds.has(id));
  const operations: BlockOperation[] = [];
  const earlier: RetrievedFact[] = [];
  const kept: Fact[] = [];
  const placed = new Set<string>();

  for (const fact of cited) {
    const now = foundById.get(fact.id);
    const line = blockOf(document, fact);
    const remove = () => line && operations.push({ op: "remove_block", blockId: line.blockId });
    if (goneIds.has(fact.id)) {
      remove();
      continue;
    }
    // An observation that was drawn from the fact since takes over its line.
    const sum = added.find(({ isSuperseded, sourceIds }) => !isSuperseded && sourceIds.includes(fact.id));
    if (sum && line && !line.isEarlier && !now?.isSuperseded) {
      if (placed.has(sum.id)) remove();
      else operations.push({ op: "replace_block", blockId: line.blockId, text: lineOf(sum) });
      placed.add(sum.id);
      continue;
    }
    kept.push(now ?? fact);
    if (!now || !line) continue;
    if (now.isSuperseded && !line.isEarlier) {
      remove();
      earlier.push(now);
    } else if (now.text !== fact.text) {
      operations.push({ op: "replace_block", blockId: line.blockId, text: lineOf(now) });
    }
  }
  earlier.push(...added.filter(({ isSuperseded }) => isSuperseded));
  const fresh = added.filter(({ id, isSuperseded }) => !isSuperseded && !placed.has(id));
  operations.push(...appendTo(document, null, fresh), ...appendTo(document, EARLIER, earlier));
  return { operations, facts: [...kept, ...added] };
}

const EARLIER = EARLIER_HEADING.replace(/^#+\s*/, "");
const CURRENT = "Now";
const LEVEL = 2;

function appendTo(document: Document, heading: string | null, facts: readonly RetrievedFact[]): BlockOperation[] {
  if (facts.length === 0) return [];
  const lines = facts.map(lineOf);
  const section = document.sections.find((one) => one.heading === heading);
  if (section) return lines.map((text) => ({ op: "append_block", sectionId: section.id, text }));
  return [{ op: "add_section", heading: heading ?? CURRENT, level: LEVEL, blocks: lines }];
}

/** Where the document says the fact in its own words. */
function blockOf(document: Document, { text }: Fact): { readonly blockId: string; readonly isEarlier: boolean } | undefined {
  const words = text.replaceAll(/\s+/g, " ").trim();
  for (const { heading, blocks } of document.sections) {
    const block = blocks.find((one) => one.text.includes(words));
    if (block) return { blockId: block.id, isEarlier: heading === EARLIER };
  }
  return undefined;
}
