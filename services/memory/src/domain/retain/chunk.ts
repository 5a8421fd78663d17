import { structuredElements } from "../text/structured.ts";

/** A slice of a document. The chunks of a document, joined, are the document. */
export interface Chunk {
  readonly index: number;
  readonly text: string;
  /** Offset of the slice in the document, in UTF-16 units. */
  readonly start: number;
}

export interface ChunkSizes {
  /** Characters (code points) of a chunk of prose. */
  readonly chunkSize: number;
  /** Characters of a chunk of JSON; whole objects or lines are packed up to it. */
  readonly structuredChunkSize: number;
}

/** Cuts a document for extraction; the same text and sizes always give the same chunks. An empty text has none. */
export function chunkText(text: string, { chunkSize, structuredChunkSize }: ChunkSizes): Chunk[] {
  if (text === "") return [];
  if (fits(text, chunkSize)) return numbered([text]);
  const elements = structuredElements(text);
  if (elements === undefined) return numbered(splitProse(text, chunkSize));
  return numbered(
    packed(
      elements.map(({ start, end }) => text.slice(start, end)),
      structuredChunkSize,
      (element) => splitProse(element, structuredChunkSize),
    ),
  );
}

/** Coarsest first. A separator stays with the text before it. */
const separators = [/\r?\n[^\S\n]*\r?\n\s*/g, /(?:\r?\n)+/g, /\. /g, /! /g, /\? /g, /; /g, /, /g, / +/g];

function splitProse(text: string, size: number, level = 0): string[] {
  if (fits(text, size)) return [text];
  const separator = separators[level];
  if (separator === undefined) return splitCharacters(text, size);
  const pieces = splitAfter(text, separator);
  return pieces.length === 1
    ? splitProse(text, size, level + 1)
    : packed(pieces, size, (piece) => splitProse(piece, size, level + 1));
}

/** Joins neighbours while they fit; a piece that is too long alone is handed to `split`, and packing starts anew after it. */
function packed(pieces: readonly string[], size: number, split: (piece: string) => string[]): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let length = 0;
  const close = (): void => {
    if (open.length > 0) chunks.push(open.join(""));
    open = [];
    length = 0;
  };
  for (const piece of pieces) {
    const pieceLength = characters(piece);
    if (length + pieceLength > size) close();
    if (pieceLength > size) {
      chunks.push(...split(piece));
      continue;
    }
    open.push(piece);
    length += pieceLength;
  }
  close();
  return chunks;
}

function splitAfter(text: string, separator: RegExp): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (const match of text.matchAll(separator)) {
    const end = match.index + match[0].length;
    pieces.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

function splitCharacters(text: string, size: number): string[] {
  const all = Array.from(text);
  const pieces: string[] = [];
  for (let i = 0; i < all.length; i += size) pieces.push(all.slice(i, i + size).join(""));
  return pieces;
}

function fits(text: string, size: number): boolean {
  return text.length <= size || characters(text) <= size;
}

function characters(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g);
  return text.length - (pairs?.length ?? 0);
}

function numbered(texts: readonly string[]): Chunk[] {
  let start = 0;
  return texts.map((text, index) => {
    const chunk = { index, text, start };
    start += text.length;
    return chunk;
  });
}
