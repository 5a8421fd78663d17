export type NumberText =
  | { readonly kind: "value"; readonly value: number }
  | { readonly kind: "malformed" | "too_long" | "not_finite" };

// The published behaviour: decimal text of more digits than this is refused as too long instead of being converted.
const INTEGER_DIGITS_MAX = 4300;

const integerForm = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/;
const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const notFiniteForm = /^[+-]?(?:inf|infinity|nan)$/i;
// `String.trim` would also remove U+FEFF, which is not white space for the callers that we agree with.
const surroundingBlanks = /^\p{White_Space}+|\p{White_Space}+$/gu;

/** Reads `"9"`, `" +9 "`, `"9.0"` and `"1_000"`; not `"9."`, `"1e3"` or `"1,000"`. Digits beyond 2^53 are rounded. */
export function parseInteger(text: string): NumberText {
  const match = integerForm.exec(withoutBlanks(text));
  if (!match) return { kind: "malformed" };
  const digits = match[2]!.replaceAll("_", "");
  if (digits.length > INTEGER_DIGITS_MAX) return { kind: "too_long" };
  // Adding zero turns -0 into 0.
  return { kind: "value", value: Number(match[1] + digits) + 0 };
}

/** Reads decimal and exponent forms; what overflows a double, and the words for infinity and NaN, are `not_finite`. */
export function parseNumber(text: string): NumberText {
  const trimmed = withoutBlanks(text);
  if (notFiniteForm.test(trimmed)) return { kind: "not_finite" };
  // Separators and surrounding blanks do not go together, unlike in integers: agreed behaviour, not a rule with a reason.
  const digits = trimmed === text ? withoutSeparators(trimmed) : trimmed;
  if (digits === undefined || !numberForm.test(digits)) return { kind: "malformed" };
  const value = Number(digits);
  return Number.isFinite(value) ? { kind: "value", value } : { kind: "not_finite" };
}

function withoutBlanks(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  const mayHaveBlanks = first <= 0x20 || last <= 0x20 || first >= 0x80 || last >= 0x80;
  return mayHaveBlanks ? text.replace(surroundingBlanks, "") : text;
}

/** A single `_` may stand anywhere inside; `undefined` when one is at an edge or doubled. */
function withoutSeparators(text: string): string | undefined {
  if (!text.includes("_")) return text;
  if (text.startsWith("_") || text.endsWith("_") || text.includes("__")) return undefined;
  return text.replaceAll("_", "");
}
