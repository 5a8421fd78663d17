const HIDDEN = "[hidden]";
const DEPTH_MAX = 6; // deeper structures do not belong in a log line
const ITEMS_MAX = 50; // per list or object
const TEXT_LENGTH_MAX = 4_000; // one line should stay readable; stacks fit

const SECRET_TEXT = /hsk_[0-9A-Za-z]+/g;
// The end of a member's name without case, `-` and `_`: `apiKey`, `llm_api_key` and `X-Api-Key` are all `...apikey`.
const SECRET_MEMBER =
  /(secret|password|passphrase|pepper|authorization|cookie|token|apikey|accesskey|privatekey|encryptionkey|signingkey|bootstrapkey|credentials?)$/;

/** `text` with every API key in it hidden. */
export function redactText(text: string): string {
  const clean = text.replace(SECRET_TEXT, HIDDEN);
  return clean.length > TEXT_LENGTH_MAX ? `${clean.slice(0, TEXT_LENGTH_MAX)}...` : clean;
}

/**
 * A copy that is safe to log: strings, lists and objects under a secret's name are hidden, API keys are hidden wherever they
 * stand, errors become plain objects, and what is too deep, too long or circular is cut.
 */
export function redact(value: unknown): unknown {
  return copy(value, DEPTH_MAX, []);
}

function copy(value: unknown, depth: number, parents: readonly object[]): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[circular]";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth === 0) return "[deep]";
  const inside = [...parents, value];
  if (Array.isArray(value)) {
    const items = value.slice(0, ITEMS_MAX).map((item) => copy(item, depth - 1, inside));
    return value.length > ITEMS_MAX ? [...items, `[${value.length - ITEMS_MAX} more]`] : items;
  }
  const members = value instanceof Error ? errorMembers(value) : Object.entries(value);
  return Object.fromEntries(
    members.slice(0, ITEMS_MAX).map(([name, member]) => [name, hides(name, member) ? HIDDEN : copy(member, depth - 1, inside)]),
  );
}

// Numbers and booleans under such a name are counts and claims: `maxToken: 512`, `hasSecret: true`.
function hides(name: string, member: unknown): boolean {
  const canHoldSecret = typeof member === "string" || (typeof member === "object" && member !== null);
  return canHoldSecret && SECRET_MEMBER.test(name.toLowerCase().replaceAll(/[-_]/g, ""));
}

function errorMembers(error: Error): [string, unknown][] {
  const own = Object.entries(error).filter(([name]) => name !== "name");
  const cause: [string, unknown][] = error.cause === undefined ? [] : [["cause", error.cause]];
  return [["type", error.name], ["message", error.message], ["stack", error.stack], ...own, ...cause];
}
