/**
 * The JSON value that a text holds, where models put it: alone, in a code fence, or between sentences. `undefined` when there
 * is none that can be read.
 */
export function jsonInText(text: string): unknown {
  const fenced = /```(?:json)?\s*\n?([\s\S]*?)```/.exec(text)?.[1];
  for (const candidate of [text, fenced, between(text, "{", "}"), between(text, "[", "]")]) {
    if (candidate === undefined) continue;
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      // Not this one: the next reading may be.
    }
  }
  return undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const from = text.indexOf(open);
  const to = text.lastIndexOf(close);
  return from >= 0 && to > from ? text.slice(from, to + 1) : undefined;
}
