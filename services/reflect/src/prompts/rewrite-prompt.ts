import type { Message } from "@memory-bank/models";
import type { Directive } from "../domain/answer.ts";
import { DATA_RULE, dataBlock } from "./data-block.ts";
import { directivesReminder, directivesSection } from "./system-prompt.ts";

/** Asks for a shorter wording of an answer that is too long. */
export function rewritePrompt(answer: string, maxTokens: number, directives: readonly Directive[]): Message[] {
  const rules = [
    directivesSection(directives),
    `Shorten a text to at most ${maxTokens} tokens. Keep what matters most, keep its language and its Markdown, and add nothing. Answer with the text alone.`,
    DATA_RULE,
    directivesReminder(directives),
  ];
  return [
    { role: "system", content: rules.filter((rule) => rule !== "").join("\n\n") },
    { role: "user", content: dataBlock("text", answer) },
  ];
}
