import type { Message } from "@memory-bank/models";
import { dataBlock } from "./data-block.ts";

/** Asks for the answer from what was gathered, without further searching. */
export function concludePrompt(system: string, query: string, material: unknown, maxTokens: number): Message[] {
  const task = [
    "Answer the question now from the memories below; no further search is possible.",
    `The answer has at most ${maxTokens} tokens. Name the ids of what it rests on. If the memories do not hold the answer, say so and name no ids.`,
    dataBlock("memories", material),
    dataBlock("question", query),
  ];
  return [
    { role: "system", content: system },
    { role: "user", content: task.join("\n\n") },
  ];
}

export const concludeSchema = {
  name: "answer",
  shape: {
    type: "object",
    properties: {
      answer: { type: "string" },
      memory_ids: { type: "array", items: { type: "string" } },
      mental_model_ids: { type: "array", items: { type: "string" } },
      observation_ids: { type: "array", items: { type: "string" } },
    },
    required: ["answer", "memory_ids", "mental_model_ids", "observation_ids"],
    additionalProperties: false,
  },
} as const;
