import type { ExtractedFact } from "../fact.ts";
import type { Unit } from "../unit.ts";
import { extractFacts } from "./extract.ts";

/** Reads a stored unit again by the rules of retain: its flags, dates, entities and embedded text. Several sentences count as one. */
export function rereadUnit({ text, context, mentionedAtUs }: Pick<Unit, "text" | "context" | "mentionedAtUs">): ExtractedFact {
  const { facts } = extractFacts({
    content: text,
    context,
    timestampUs: mentionedAtUs,
    mode: "verbatim",
    chunkSize: Number.MAX_SAFE_INTEGER,
    structuredChunkSize: Number.MAX_SAFE_INTEGER,
  });
  return facts[0]!;
}
