export type UuidText = { readonly uuid: string } | { readonly error: string };

const groupLengths = [8, 4, 4, 4, 12] as const;
const digitsTotal = 32;
const urnPrefix = "urn:uuid:";
const hyphenated = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const plainDigits = /^[0-9a-f]{32}$/i;

/** Reads the hyphenated, the plain, the braced and the urn form; answers lower case with hyphens. */
export function parseUuid(text: string): UuidText {
  if (hyphenated.test(text)) return { uuid: text.toLowerCase() };
  const { body, offset } = unwrap(text);
  if (hyphenated.test(body)) return { uuid: body.toLowerCase() };
  if (plainDigits.test(body) && offset === 0) return { uuid: withHyphens(body.toLowerCase()) };
  return { error: describe(text, body, offset) };
}

function unwrap(text: string): { body: string; offset: number } {
  if (text.startsWith("{") && text.endsWith("}") && text.length > 1) return { body: text.slice(1, -1), offset: 1 };
  if (text.startsWith(urnPrefix)) return { body: text.slice(urnPrefix.length), offset: urnPrefix.length };
  return { body: text, offset: 0 };
}

function withHyphens(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The first thing that is wrong: a character, then the number of groups, then the length of a group. Positions count from 1. */
function describe(text: string, body: string, offset: number): string {
  let position = offset;
  for (const character of body) {
    position++;
    if (!/^[0-9a-f-]$/i.test(character)) return `invalid character: found \`${character}\` at ${position}`;
  }
  const groups = body.split("-");
  if (groups.length === 1 && offset === 0) {
    return `invalid length: expected length ${digitsTotal} for simple format, found ${text.length}`;
  }
  if (groups.length !== groupLengths.length) {
    return `invalid group count: expected ${groupLengths.length}, found ${groups.length}`;
  }
  const wrong = groups.findIndex((group, index) => group.length !== groupLengths[index]);
  return `invalid group length in group ${wrong}: expected ${groupLengths[wrong]}, found ${groups[wrong]!.length}`;
}
