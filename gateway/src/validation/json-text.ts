import { isUtf8 } from "node:buffer";
import { codePointCount } from "./text.ts";

/** What a request body holds. `offset` counts characters from the start of the text. */
export type JsonText =
  | { readonly kind: "empty" }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly error: string; readonly offset: number };

/** Deeper than any document of the API by far, and shallow enough for every recursive reader and writer behind it. */
export const JSON_DEPTH_MAX = 100;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Parses UTF-8 JSON of bounded depth. Numbers are doubles; a number that overflows becomes infinite and is refused by its reader. */
export function parseJson(bytes: Buffer): JsonText {
  if (bytes.length === 0) return { kind: "empty" };
  const body = bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
  const text = body.toString("utf8");
  if (!isUtf8(body)) return { kind: "malformed", error: "Invalid UTF-8", offset: firstBadCharacter(body, text) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The built-in parser does not say where and why in the words of the contract; the scanner does.
    return diagnose(text);
  }
  return isDeeperThan(value, JSON_DEPTH_MAX) ? diagnose(text) : { kind: "value", value };
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}

/** The first replacement character of the decoded text that the bytes do not hold themselves. */
function firstBadCharacter(bytes: Buffer, text: string): number {
  const replacement = Buffer.from("\ufffd");
  let bytePosition = 0;
  let start = 0;
  for (;;) {
    const index = text.indexOf("\ufffd", start);
    bytePosition += Buffer.byteLength(text.slice(start, index));
    const isGenuine = bytes.subarray(bytePosition, bytePosition + replacement.length).equals(replacement);
    if (!isGenuine) return codePointCount(text.slice(0, index));
    bytePosition += replacement.length;
    start = index + 1;
  }
}

function diagnose(text: string): JsonText {
  const fault = findFault(text);
  if (!fault) throw new Error("The JSON parser refused a text in which the scanner finds no fault");
  return { kind: "malformed", error: fault.error, offset: codePointCount(text.slice(0, fault.index)) };
}

interface Fault {
  readonly error: string;
  readonly index: number;
}

/** Where a part of the text ends, or what is wrong in it. */
type Scan = number | Fault;

/** Finds the first fault of a JSON text, worded and placed as the contract's clients know it; `undefined` when there is none. */
export function findFault(text: string): Fault | undefined {
  const end = scanValue(text, skipBlanks(text, 0), 0);
  if (typeof end !== "number") return end;
  const rest = skipBlanks(text, end);
  return rest < text.length ? { error: "Extra data", index: rest } : undefined;
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function scanValue(text: string, start: number, depth: number): Scan {
  const opening = text[start];
  if (opening === '"') return scanString(text, start);
  if (opening !== "{" && opening !== "[") return matchEnd(scalar, text, start) ?? { error: "Expecting value", index: start };
  if (depth === JSON_DEPTH_MAX) return { error: `Nested deeper than ${JSON_DEPTH_MAX} levels`, index: start };
  return opening === "{" ? scanObject(text, start + 1, depth + 1) : scanArray(text, start + 1, depth + 1);
}

function scanObject(text: string, start: number, depth: number): Scan {
  let index = skipBlanks(text, start);
  if (text[index] === "}") return index + 1;
  for (;;) {
    if (text[index] !== '"') return { error: "Expecting property name enclosed in double quotes", index };
    const nameEnd = scanString(text, index);
    if (typeof nameEnd !== "number") return nameEnd;
    index = skipBlanks(text, nameEnd);
    if (text[index] !== ":") return { error: "Expecting ':' delimiter", index };
    const valueEnd = scanValue(text, skipBlanks(text, index + 1), depth);
    if (typeof valueEnd !== "number") return valueEnd;
    index = skipBlanks(text, valueEnd);
    if (text[index] === "}") return index + 1;
    if (text[index] !== ",") return { error: "Expecting ',' delimiter", index };
    index = skipBlanks(text, index + 1);
  }
}

function scanArray(text: string, start: number, depth: number): Scan {
  let index = skipBlanks(text, start);
  if (text[index] === "]") return index + 1;
  for (;;) {
    const itemEnd = scanValue(text, index, depth);
    if (typeof itemEnd !== "number") return itemEnd;
    index = skipBlanks(text, itemEnd);
    if (text[index] === "]") return index + 1;
    if (text[index] !== ",") return { error: "Expecting ',' delimiter", index };
    index = skipBlanks(text, index + 1);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string.
const plainCharacters = /[^"\\\x00-\x1f]*/y;
const unicodeDigits = /[0-9a-fA-F]{4}/y;

function scanString(text: string, start: number): Scan {
  let index = start + 1;
  for (;;) {
    index = matchEnd(plainCharacters, text, index) ?? index;
    if (index >= text.length) return { error: "Unterminated string starting at", index: start };
    if (text[index] === '"') return index + 1;
    if (text[index] !== "\\") return { error: "Invalid control character at", index };
    const escaped = text[index + 1];
    if (escaped === undefined) return { error: "Unterminated string starting at", index: start };
    if (escaped === "u") {
      const end = matchEnd(unicodeDigits, text, index + 2);
      // An escape that ends the text counts as cut short, although its digits are there.
      if (end === undefined || end >= text.length) return { error: "Invalid \\uXXXX escape", index: index + 1 };
      index = end;
    } else if ('"\\/bfnrt'.includes(escaped)) index += 2;
    else return { error: "Invalid \\escape", index };
  }
}

const blanks = /[ \t\n\r]*/y;

function skipBlanks(text: string, start: number): number {
  return matchEnd(blanks, text, start) ?? start;
}

/** Where a sticky pattern that matches at `start` ends. */
function matchEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
