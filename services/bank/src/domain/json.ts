export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [member: string]: JsonValue };

/** What JSON calls the value. */
export function jsonTypeOf(value: unknown): "null" | "boolean" | "number" | "string" | "list" | "object" {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "object" : (typeof value as "boolean" | "number" | "string");
}

export function isJsonObject(value: unknown): value is JsonObject {
  return jsonTypeOf(value) === "object";
}
