import { isJsonObject, type JsonObject, type JsonValue, jsonTypeOf } from "./json.ts";

const groupTypes = ["value", "multi-values", "text", "map"];

/**
 * What is wrong with a vocabulary of label groups, or `undefined`. A group is `{key, description?, type?, optional?, tag?,
 * values?, fields?}`; keys are unique among their siblings, and the fields of a `map` are groups themselves.
 */
export function entityLabelsFault(path: string, groups: readonly JsonValue[], isNested = false): string | undefined {
  const keys = new Set<JsonValue>();
  for (const [index, group] of groups.entries()) {
    const fault = groupFault(`${path}[${index}]`, group, isNested);
    if (fault !== undefined) return fault;
    const key = (group as JsonObject)["key"] ?? null;
    if (keys.has(key)) return `${path} must not hold two groups with the key '${key}'`;
    keys.add(key);
  }
  return undefined;
}

function groupFault(path: string, group: JsonValue, isNested: boolean): string | undefined {
  if (!isJsonObject(group)) return `${path} must be an object, got ${jsonTypeOf(group)}`;
  const { key, type = "value", values = null, fields = null } = group as Record<string, JsonValue | undefined>;
  if (typeof key !== "string" || key.trim() === "") return `${path}.key must be a non-empty string`;
  if (typeof type !== "string" || !groupTypes.includes(type)) return `${path}.type must be one of ${groupTypes.join(", ")}`;
  // One level is what a record needs; deeper nesting has no meaning for an entity.
  if (isNested && type === "map") return `${path}.type must not be map inside a map`;
  return (
    memberFault(path, group, "description", "string", "a string") ??
    memberFault(path, group, "optional", "boolean", "a boolean") ??
    memberFault(path, group, "tag", "boolean", "a boolean") ??
    (values === null ? undefined : valuesFault(`${path}.values`, values)) ??
    (fields === null ? undefined : fieldsFault(`${path}.fields`, fields))
  );
}

/** The values of a group are `{value, description?}`, or plain strings for short. */
function valuesFault(path: string, values: JsonValue): string | undefined {
  if (!Array.isArray(values)) return `${path} must be a list, got ${jsonTypeOf(values)}`;
  for (const [index, item] of (values as readonly JsonValue[]).entries()) {
    const name = isJsonObject(item) ? (item["value"] ?? null) : item;
    if (typeof name !== "string" || name.trim() === "") return `${path}[${index}].value must be a non-empty string`;
    const fault = isJsonObject(item) ? memberFault(`${path}[${index}]`, item, "description", "string", "a string") : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function fieldsFault(path: string, fields: JsonValue): string | undefined {
  if (!Array.isArray(fields)) return `${path} must be a list, got ${jsonTypeOf(fields)}`;
  return entityLabelsFault(path, fields, true);
}

function memberFault(
  path: string,
  record: JsonObject,
  member: string,
  type: ReturnType<typeof jsonTypeOf>,
  article: string,
): string | undefined {
  const value = record[member] ?? null;
  if (value === null || jsonTypeOf(value) === type) return undefined;
  return `${path}.${member} must be ${article}, got ${jsonTypeOf(value)}`;
}
