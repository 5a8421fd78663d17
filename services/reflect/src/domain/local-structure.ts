import type { JsonObject, JsonValue } from "@memory-bank/jobs";
import type { Fact } from "./answer.ts";

const DEPTH_MAX = 8; // deeper schemas describe data that no list of facts fills

/**
 * What rules can fill of a schema from an answer: text members get the answer, lists of text the cited facts, numbers the only
 * number among the facts, objects their members. Everything else is `null`, so that nothing is made up.
 */
export function fillStructure(schema: JsonObject, answer: string, facts: readonly Fact[], depth = 0): JsonValue {
  if (depth > DEPTH_MAX) return null;
  switch (typeOf(schema)) {
    case "object": {
      const properties = schema["properties"];
      if (!isObject(properties)) return {};
      const members = Object.entries(properties).map(([name, part]) => [
        name,
        isObject(part) ? fillStructure(part, answer, facts, depth + 1) : null,
      ]);
      return Object.fromEntries(members) as JsonObject;
    }
    case "string":
      return "enum" in schema || "format" in schema ? null : answer;
    case "array": {
      const items = schema["items"];
      const areTexts = !isObject(items) || (typeOf(items) === "string" && !("enum" in items));
      return areTexts ? facts.map(({ text }) => text) : [];
    }
    case "number":
    case "integer": {
      const numbers = new Set(
        facts.flatMap(({ text }) => text.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)/g) ?? []).map(Number),
      );
      const [only] = numbers;
      const fits = numbers.size === 1 && only !== undefined && (typeOf(schema) === "number" || Number.isInteger(only));
      return fits ? only : null;
    }
    default:
      return null;
  }
}

function typeOf({ type, properties }: JsonObject): string | undefined {
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return type.find((one): one is string => typeof one === "string" && one !== "null");
  return isObject(properties) ? "object" : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
