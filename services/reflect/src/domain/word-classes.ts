import { contentWords } from "./content-words.ts";

/**
 * Words that ask for what another one tells: "What does Alice like?" is answered by "Alice loves Python". Few on purpose: a class
 * that is too wide makes an unanswerable question look answered. Its first word stands for the class.
 */
const classes: readonly string[] = [
  "like love loved adore enjoy fond prefer prefers favourite favorite fan",
  "hate dislike detest loathe stand",
  "live lives lived living reside moved relocated home based",
  "work works working job employer employed joined",
  "called name named",
  "bought buy purchased cost price",
  "married wife husband spouse",
  "lead leads led leader",
  "movie film",
  "moved postponed rescheduled",
];

const classOf = new Map<string, readonly string[]>();
for (const line of classes) {
  const words = contentWords(line);
  for (const word of words) classOf.set(word, [...new Set([...(classOf.get(word) ?? []), words[0]!])]);
}

/** Whether `words` hold the word, or one of a class with it. Words are as `contentWords` answers them. */
export function speaksOf(words: ReadonlySet<string>, word: string): boolean {
  if (words.has(word)) return true;
  const wanted = classOf.get(word);
  return wanted !== undefined && [...words].some((other) => classOf.get(other)?.some((one) => wanted.includes(one)));
}
