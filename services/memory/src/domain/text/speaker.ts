import { foldText } from "./analyzer.ts";
import { wordClass } from "./english/lexicon.ts";
import { agentLabels, conversational, headingWords, partnerLabels } from "./english/turn-labels.ts";
import { type StructuredElement, structuredElements } from "./structured.ts";

/** One turn of a conversation, or a whole text nobody is named for. */
export interface Turn {
  /** As the source writes it; `undefined` when it names nobody. */
  readonly speaker: string | undefined;
  readonly speakerKind: "agent" | "role" | "person" | "none";
  /** What was said, without the label. */
  readonly text: string;
  /** Where the turn stands in the content, in UTF-16 units; for JSON where its object starts. */
  readonly start: number;
  readonly isStructured: boolean;
}

/**
 * Reads who says what: JSON arrays or lines of objects with a speaker and a text, and lines that begin with `Name:`. A line
 * without a label continues the turn before it. `named` are folded names that are speakers for certain (of the context).
 */
export function parseTurns(content: string, named: ReadonlySet<string>): Turn[] {
  const elements = structuredElements(content);
  return (elements && structuredTurns(elements, content)) ?? labelledTurns(content, named);
}

const speakerKeys = ["speaker", "name", "author", "sender", "from", "role"];
const textKeys = ["content", "text", "message", "body", "value"];
const turnListKeys = ["messages", "conversation", "turns", "dialogue", "transcript", "chat"];

/** `undefined` when no object holds a text: the JSON is data, not talk. Objects without one stay as they are written. */
function structuredTurns(elements: readonly StructuredElement[], content: string): Turn[] | undefined {
  const turns = elements.flatMap((element) => nestedElements(element)).map((element) => turnOf(element));
  if (turns.every((turn) => turn === undefined)) return undefined;
  return elements.length === turns.length
    ? turns.map((turn, i) => turn ?? unnamed(content.slice(elements[i]!.start, elements[i]!.end), elements[i]!.start, true))
    : turns.filter((turn) => turn !== undefined);
}

/** `{ messages: [...] }` stands for its messages. */
function nestedElements(element: StructuredElement): StructuredElement[] {
  for (const key of turnListKeys) {
    const list = element.value[key];
    if (!Array.isArray(list)) continue;
    const values = list.filter((value) => typeof value === "object" && value !== null);
    if (values.length > 0) return values.map((value) => ({ ...element, value }));
  }
  return [element];
}

function turnOf({ value, start }: StructuredElement): Turn | undefined {
  const text = firstText(value, textKeys);
  if (text === undefined) return undefined;
  const role = typeof value["role"] === "string" ? value["role"] : "";
  const speaker = firstText(value, speakerKeys)?.replace(/\s+/g, " ").trim();
  const kind = agentLabels.has(foldText(role)) ? "agent" : kindOf(speaker);
  return { speaker: speaker === "" ? undefined : speaker, speakerKind: kind, text, start, isStructured: true };
}

/** The first of the keys that holds a text or a list of text parts. */
function firstText(value: StructuredElement["value"], keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const member = value[key];
    if (typeof member === "string") return member;
    if (Array.isArray(member)) {
      const parts = member
        .map((part) => (typeof part === "string" ? part : part?.text))
        .filter((part) => typeof part === "string");
      if (parts.length > 0) return parts.join("\n");
    }
  }
  return undefined;
}

/** Longer labels are sentences with a colon in them. */
const LABEL_CHARS_MAX = 40;
const LABEL_WORDS_MAX = 4;

/** An optional bracketed time, the label, an optional bracketed remark; Markdown emphasis around the label is dropped. */
const labelLine = new RegExp(
  String.raw`^[^\S\n]*(?:[-*•>]\s)?(?:\[[^\]\n]{1,30}\]\s*)?[*_]{0,2}(?<label>[\p{L}\p{N}][^:：\n*_()[\]]{0,${LABEL_CHARS_MAX - 1}}?)[*_]{0,2}(?:\s*[([][^)\]\n]{1,30}[)\]])?[*_]{0,2}\s?[:：][*_]{0,2}(?=\s|\p{Lo}|$)[^\S\n]*`,
  "gmu",
);

function labelledTurns(content: string, named: ReadonlySet<string>): Turn[] {
  const labels = [...content.matchAll(labelLine)].map((match) => {
    const label = match.groups!["label"]!.replace(/\s+/g, " ").trim();
    const from = match.index + match[0].length;
    const lineEnd = content.indexOf("\n", from);
    return { label, start: match.index, from, said: content.slice(from, lineEnd < 0 ? undefined : lineEnd) };
  });
  const isOnlyLine = labels.length === 1 && !content.trim().includes("\n");
  const speaking = labels.filter(({ label, said }) => isSpeaker(label, said, named, isOnlyLine));
  const turns: Turn[] = [];
  const head = content.slice(0, speaking[0]?.start ?? content.length);
  if (head.trim() !== "") turns.push(unnamed(head, 0, false));
  for (const [i, { label, from }] of speaking.entries()) {
    const text = content.slice(from, speaking[i + 1]?.start ?? content.length);
    turns.push({ speaker: label, speakerKind: kindOf(label), text, start: from, isStructured: false });
  }
  return turns;
}

/** A known name or role always; a heading never; any other capitalised label when what follows it is talk. */
function isSpeaker(label: string, said: string, named: ReadonlySet<string>, isOnlyLine: boolean): boolean {
  const folded = foldText(label);
  if (named.has(folded) || kindOf(label) !== "person") return true;
  const words = label.split(" ");
  if (words.length > LABEL_WORDS_MAX || headingWords.has(folded) || headingWords.has(words.at(-1)!.toLowerCase())) return false;
  if (!words.every((word) => /^(?:\p{Lu}|\p{Lo}|(?:de|da|di|van|von|der|la|le|bin|al)$)/u.test(word))) return false;
  if (wordClass(words[0]!) === "person") return true;
  if (/^\p{Lo}/u.test(label)) return words.length === 1 && (isOnlyLine || /[?？!！]/.test(said));
  return words.length <= 3 && (conversational.test(said) || (isOnlyLine && words.length === 1 && !endsLikeNoun(label)));
}

function endsLikeNoun(word: string): boolean {
  return /(?:tion|ment|ness|ing|ity|ance|ism|ware|ings|tions|ments|ities)$/i.test(word);
}

function kindOf(speaker: string | undefined): Turn["speakerKind"] {
  if (speaker === undefined || speaker === "") return "none";
  const folded = foldText(speaker);
  if (agentLabels.has(folded)) return "agent";
  return partnerLabels.has(folded) ? "role" : "person";
}

function unnamed(text: string, start: number, isStructured: boolean): Turn {
  return { speaker: undefined, speakerKind: "none", text, start, isStructured };
}
