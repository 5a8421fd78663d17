import type { TSchema } from "typebox";
import { componentOf } from "./schema.ts";

export type OpenApiSchema = Record<string, unknown>;

/**
 * The JSON schema of a TypeBox schema, as OpenAPI 3.1 takes it. Named schemas are put into `components` once and referred
 * to, so that recursive ones end.
 */
export function toOpenApi(schema: TSchema, components: Map<string, OpenApiSchema>): OpenApiSchema {
  const component = componentOf(schema);
  if (!component) return emit(schema, components);
  const { name, resolve } = component;
  if (!components.has(name)) {
    components.set(name, {}); // seen: what refers back to it while it is being emitted finds the name
    components.set(name, emit(resolve(), components));
  }
  return { $ref: `#/components/schemas/${name}` };
}

function emit(schema: TSchema, components: Map<string, OpenApiSchema>): OpenApiSchema {
  const output: OpenApiSchema = {};
  for (const [keyword, value] of Object.entries(schema)) output[keyword] = emitKeyword(keyword, value, components);
  return output;
}

/** Below these keywords stand schemas; below all others stands data. */
const schemaKeywords = new Set(["items", "additionalProperties", "not", "propertyNames", "contains"]);
const schemaListKeywords = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const schemaMapKeywords = new Set(["properties", "patternProperties"]);

function emitKeyword(keyword: string, value: unknown, components: Map<string, OpenApiSchema>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (schemaKeywords.has(keyword)) return toOpenApi(value, components);
  if (schemaListKeywords.has(keyword)) return (value as TSchema[]).map((schema) => toOpenApi(schema, components));
  if (schemaMapKeywords.has(keyword)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, toOpenApi(schema as TSchema, components)]));
  }
  return value;
}
