import type { Message } from "@memory-bank/models";
import { dataBlock } from "./data-block.ts";

export interface DeltaMaterial {
  readonly query: string;
  readonly document: unknown;
  readonly newMemories: unknown;
  readonly goneMemories: unknown;
  readonly maxTokens: number;
}

/** Asks how a document has to change so that it follows its memories. */
export function deltaPrompt(system: string, { query, document, newMemories, goneMemories, maxTokens }: DeltaMaterial): Message[] {
  const task = [
    "The document below answers the question. Since it was written, memories came up and others were taken back. Propose the smallest changes that bring it up to date:",
    "- Put new memories in where they belong, merge them with what is there, and correct what they overtake.",
    "- Take out what rests only on memories that were taken back.",
    "- Leave everything else word for word. Propose nothing when nothing has to change.",
    `The whole document must stay below ${maxTokens} tokens. Name the ids of the new memories that you used.`,
    "Changes: append_block {section_id, text}; insert_block {block_id, text} puts a block behind that one; replace_block {block_id, text}; remove_block {block_id}; add_section {heading, level, blocks}; remove_section {section_id}; replace_section_blocks {section_id, blocks}; rename_section {section_id, heading}. Members that a change does not need are null.",
    dataBlock("question", query),
    dataBlock("document", document),
    dataBlock("new_memories", newMemories),
    dataBlock("memories_taken_back", goneMemories),
  ];
  return [
    { role: "system", content: system },
    { role: "user", content: task.join("\n\n") },
  ];
}

const nullable = (type: string) => ({ type: [type, "null"] });

export const deltaSchema = {
  name: "changes",
  shape: {
    type: "object",
    properties: {
      operations: {
        type: "array",
        items: {
          type: "object",
          properties: {
            op: {
              type: "string",
              enum: [
                "append_block",
                "insert_block",
                "replace_block",
                "remove_block",
                "add_section",
                "remove_section",
                "replace_section_blocks",
                "rename_section",
              ],
            },
            section_id: nullable("string"),
            block_id: nullable("string"),
            text: nullable("string"),
            heading: nullable("string"),
            level: nullable("integer"),
            blocks: { type: ["array", "null"], items: { type: "string" } },
          },
          required: ["op", "section_id", "block_id", "text", "heading", "level", "blocks"],
          additionalProperties: false,
        },
      },
      memory_ids: { type: "array", items: { type: "string" } },
    },
    required: ["operations", "memory_ids"],
    additionalProperties: false,
  },
} as const;
