import type { Message } from "@memory-bank/models";
import { DATA_RULE, dataBlock } from "./data-block.ts";

/** Asks for what one part of the material says about the question, when the whole is too long for one prompt. */
export function digestPrompt(query: string, part: unknown): Message[] {
  const rules = [
    "You shorten a part of a collection of memories for somebody who has to answer a question from all of it.",
    "Keep every statement that may matter for the question, with its date and the ids that it comes from. Leave out the rest. Add nothing.",
    DATA_RULE,
  ];
  return [
    { role: "system", content: rules.join("\n") },
    { role: "user", content: [dataBlock("memories", part), dataBlock("question", query)].join("\n\n") },
  ];
}

export const digestSchema = {
  name: "digest",
  shape: {
    type: "object",
    properties: {
      statements: {
        type: "array",
        items: {
          type: "object",
          properties: { text: { type: "string" }, ids: { type: "array", items: { type: "string" } } },
          required: ["text", "ids"],
          additionalProperties: false,
        },
      },
    },
    required: ["statements"],
    additionalProperties: false,
  },
} as const;
