import type { JsonValue } from "@memory-bank/jobs";
import { Type } from "typebox";
import { Check } from "typebox/value";
import type { BlockOperation } from "../domain/block-operations.ts";
import { type DeltaMaterial, deltaPrompt, deltaSchema } from "../prompts/delta-prompt.ts";
import type { ModelSession } from "./model-session.ts";

export interface ModelDelta {
  readonly operations: readonly BlockOperation[];
  /** Ids of the memories that the model says it used; not checked. */
  readonly memoryIds: readonly string[];
}

const proposal = Type.Object({
  operations: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  memory_ids: Type.Optional(Type.Array(Type.String())),
});

/** Asks the model how a document has to change; `undefined` when it proposes nothing that can be read. */
export async function proposeDelta(
  session: ModelSession,
  system: string,
  material: DeltaMaterial,
): Promise<ModelDelta | undefined> {
  const { json } = await session.json("delta", deltaPrompt(system, material), deltaSchema, material.maxTokens);
  if (!Check(proposal, json)) return undefined;
  return { operations: json.operations.map((operation) => readOperation(operation as Raw)), memoryIds: json.memory_ids ?? [] };
}

type Raw = Readonly<Record<string, JsonValue>>;

/** Members that are missing become empty ones, which name no target and put in nothing, so that the operation is skipped. */
function readOperation(raw: Raw): BlockOperation {
  const text = (member: string) => (typeof raw[member] === "string" ? raw[member] : "");
  const list = Array.isArray(raw["blocks"]) ? raw["blocks"].filter((block): block is string => typeof block === "string") : [];
  const [sectionId, blockId] = [text("section_id"), text("block_id")];
  switch (raw["op"]) {
    case "append_block":
      return { op: "append_block", sectionId, text: text("text") };
    case "insert_block":
      return { op: "insert_block", blockId, text: text("text") };
    case "replace_block":
      return { op: "replace_block", blockId, text: text("text") };
    case "add_section":
      return { op: "add_section", heading: text("heading"), level: Number(raw["level"]), blocks: list };
    case "remove_section":
      return { op: "remove_section", sectionId };
    case "replace_section_blocks":
      return { op: "replace_section_blocks", sectionId, blocks: list };
    case "rename_section":
      return { op: "rename_section", sectionId, heading: text("heading") };
    case "remove_block":
      return { op: "remove_block", blockId };
    default:
      return { op: "remove_block", blockId: "" }; // an unknown change names no target
  }
}
