import type { Message } from "@memory-bank/models";
import { DATA_RULE, dataBlock } from "./data-block.ts";

/** Asks to bring an answer into the caller's schema. `complaint` says what was wrong with the try before. */
export function structurePrompt(answer: string, query: string, complaint: string | undefined): Message[] {
  const rules = [
    "Fill the given JSON schema from an answer. Use only what the answer says; where it says nothing, use null or an empty list if the schema allows it.",
    DATA_RULE,
  ];
  return [
    { role: "system", content: rules.join("\n") },
    {
      role: "user",
      content: [
        dataBlock("question", query),
        dataBlock("answer", answer),
        ...(complaint === undefined ? [] : [`The last try did not follow the schema: ${complaint}`]),
      ].join("\n\n"),
    },
  ];
}
