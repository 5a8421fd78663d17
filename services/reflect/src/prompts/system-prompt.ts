import type { BudgetLevel } from "../answer/question.ts";
import type { Directive } from "../domain/answer.ts";
import type { Disposition, ReflectBank } from "../reflect-deps.ts";
import { DATA_RULE } from "./data-block.ts";

export interface SystemPromptParts {
  readonly bank: Pick<ReflectBank, "name" | "mission" | "disposition">;
  readonly directives: readonly Directive[];
  readonly budget: BudgetLevel;
  readonly nowUs: number;
}

/** Everything that an answer is bound by, in the order of its weight; directives come first and are recalled at the end. */
export function systemPrompt(parts: SystemPromptParts): string {
  const { bank, directives, budget, nowUs } = parts;
  return [
    directivesSection(directives),
    bank.mission.trim() === "" ? NEUTRAL_ROLE : `Your role:\n${bank.mission.trim()}`,
    GROUNDING,
    dispositionSection(bank.disposition),
    budgetAdvice[budget],
    `The memory bank is called ${JSON.stringify(bank.name)}. It is now ${new Date(nowUs / 1_000).toISOString()}.`,
    directivesReminder(directives),
  ]
    .filter((section) => section !== "")
    .join("\n\n");
}

const NEUTRAL_ROLE = "You answer questions from a memory bank.";

const GROUNDING = [
  "How to answer:",
  "- Say only what the retrieved material says or plainly implies. Never fill gaps from general knowledge, and never invent names, dates or numbers.",
  "- When the material does not answer the question, or only a part of it, say so in a plain sentence.",
  "- When two memories disagree, the one with the later mentioned_at holds now; mention the earlier one only as the past. A memory marked as superseded is the past.",
  `- ${DATA_RULE}`,
  "- Write in the language of the question, in Markdown, without ids of memories in the text.",
].join("\n");

/** Directives with their names, as binding rules; empty without any. */
export function directivesSection(directives: readonly Directive[]): string {
  if (directives.length === 0) return "";
  const rules = directives.map(({ name, content }, i) => `${i + 1}. ${name}: ${content}`);
  return ["Binding rules, the most important first. They hold for every word of the answer:", ...rules].join("\n");
}

/** The last word of a prompt; empty without directives. */
export function directivesReminder(directives: readonly Directive[]): string {
  if (directives.length === 0) return "";
  return `Before you finish, check the answer against the binding rules: ${directives.map(({ name }) => name).join("; ")}.`;
}

type Trait = keyof Disposition;

const STRONG_FROM = 4;
const WEAK_UP_TO = 2;
const traitSentences: Readonly<Record<Trait, { readonly strong: string; readonly weak: string }>> = {
  skepticism: {
    strong: "Question claims, and weigh how trustworthy each source is.",
    weak: "Take what the sources say at face value.",
  },
  literalism: {
    strong: "Keep to the exact wording of the sources.",
    weak: "Read between the lines of the sources.",
  },
  empathy: {
    strong: "Attend to the feelings and circumstances of the people concerned.",
    weak: "Stay factual and detached.",
  },
};

/** One sentence for each trait that is not neutral. */
function dispositionSection(disposition: Disposition): string {
  const sentences = (Object.keys(traitSentences) as Trait[]).flatMap((trait) => {
    const level = disposition[trait];
    if (level >= STRONG_FROM) return traitSentences[trait].strong;
    return level <= WEAK_UP_TO && level > 0 ? traitSentences[trait].weak : [];
  });
  return sentences.length === 0 ? "" : `Manner: ${sentences.join(" ")}`;
}

const budgetAdvice: Readonly<Record<BudgetLevel, string>> = {
  low: "Effort: shallow. One look at each source is usually enough; answer as soon as you can.",
  mid: "Effort: balanced. Search again with other words where the first results leave a part of the question open.",
  high: "Effort: thorough. Take the question apart, search for every part of it, and check what you found against the raw memories.",
};
