/** One object of a structured text, and the slice of the text that belongs to it (separators included). */
export interface StructuredElement {
  readonly value: Readonly<Record<string, unknown>>;
  readonly start: number;
  readonly end: number;
}

/**
 * The objects of a text that is a JSON array of objects, JSON lines of objects or a single JSON object; `undefined` for any
 * other text. The slices follow one another without gaps and together are the whole text.
 */
export function structuredElements(text: string): StructuredElement[] | undefined {
  const first = /\S/.exec(text)?.[0];
  if (first === "[") return arrayElements(text);
  if (first !== "{") return undefined;
  const whole = parsedObject(text);
  return whole ? [{ value: whole, start: 0, end: text.length }] : lineElements(text);
}

function arrayElements(text: string): StructuredElement[] | undefined {
  const values = parsed(text);
  if (!Array.isArray(values) || values.length === 0 || !values.every(isObject)) return undefined;
  const starts = elementStarts(text);
  return values.map((value, i) => ({ value, start: i === 0 ? 0 : starts[i]!, end: starts[i + 1] ?? text.length }));
}

/** Where each object directly inside the outermost brackets begins. The text is known to be valid JSON. */
function elementStarts(text: string): number[] {
  const starts: number[] = [];
  let depth = 0;
  for (const match of text.matchAll(/"(?:[^"\\]+|\\.)*"|[[\]{}]/g)) {
    const mark = match[0];
    if (mark === "[" || mark === "{") {
      if (depth === 1) starts.push(match.index);
      depth++;
    } else if (mark === "]" || mark === "}") depth--;
  }
  return starts;
}

function lineElements(text: string): StructuredElement[] | undefined {
  const elements: StructuredElement[] = [];
  let start = 0;
  for (const match of text.matchAll(/[^\n]*(?:\n\s*|$)/g)) {
    if (match[0] === "") continue;
    const value = parsedObject(match[0]);
    if (value === undefined) return undefined;
    elements.push({ value, start, end: match.index + match[0].length });
    start = match.index + match[0].length;
  }
  return elements;
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  const value = parsed(text);
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the only question is whether it is JSON; if not it is read as prose
  }
}
