import { hash } from "node:crypto";

/** A JSON object of any shape. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const HIDDEN = "[redacted]";
// The end of a name without case, `-` and `_`, so that `llm_api_key` and `X-Api-Key` are meant, too.
const SECRET_NAME = /(?:secret|token|password|authorization|apikey)$/;
// More than enough to see what a call was about; a log of whole books would outgrow the memories themselves.
const BYTES_MAX = 64 * 1024;

/**
 * A copy that may be kept: values under the names of secrets and of headers that a webhook sends are replaced. A null stays, since
 * it hides nothing and tells that a secret was removed.
 */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return mapMembers(value, (member, name) => {
    if (member === null) return null;
    if (SECRET_NAME.test(name.toLowerCase().replace(/[-_]/g, ""))) return HIDDEN;
    if ((name === "http_config" || name === "httpConfig") && isObject(member)) return withoutSecrets(withHiddenHeaders(member));
    return withoutSecrets(member);
  });
}

function withHiddenHeaders(config: JsonObject): JsonObject {
  return isObject(config["headers"]) ? { ...config, headers: mapMembers(config["headers"], () => HIDDEN) } : config;
}

function mapMembers(object: JsonObject, change: (member: unknown, name: string) => unknown): JsonObject {
  // `fromEntries` defines `__proto__` as a member like any other, where an assignment would set the prototype.
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, change(member, name)]));
}

/** The value, or what stands for one that is larger than an entry may be. `bytes`: its size as it is kept. */
export function bounded(value: unknown): { readonly value: unknown; readonly bytes: number } {
  if (value === null || value === undefined) return { value: null, bytes: 4 };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes <= BYTES_MAX ? { value, bytes } : { value: { truncated: true, size: bytes }, bytes: 40 };
}

/** Text that must not outlive its memory: still comparable to a text at hand, but not readable. */
export function digest(value: unknown): unknown {
  if (value === null || value === undefined) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { sha256: hash("sha256", text, "hex"), chars: text.length };
}
