import { entityLabelsFault } from "./entity-labels.ts";
import { isJsonObject, type JsonObject, type JsonValue, jsonTypeOf } from "./json.ts";

/** What one configuration key may hold. */
export interface ConfigKey {
  /** The value when no layer sets the key; `null` for none. */
  readonly default: JsonValue;
  /** What is wrong with `value` (never null), as a sentence that begins with the key's name, or `undefined`. */
  readonly faultOf: (name: string, value: JsonValue) => string | undefined;
}

// The wire carries priorities and limits as 32-bit integers; no limit that makes sense is near it.
const INTEGER_MAX = 2 ** 31 - 1;
const TRAIT_MIN = 1;
const TRAIT_MAX = 5;

export function text(): ConfigKey {
  return { default: null, faultOf: wrongType("string", "a string") };
}

export function word(initial: string, words: readonly string[]): ConfigKey {
  const faultOf = (name: string, value: JsonValue) =>
    wrongType("string", "a string")(name, value) ??
    (words.includes(value as string) ? undefined : `${name} must be one of ${words.join(", ")}`);
  return { default: initial, faultOf };
}

export function flag(initial: boolean): ConfigKey {
  return { default: initial, faultOf: wrongType("boolean", "a boolean") };
}

export function integer(initial: number | null, { min }: { readonly min: number }): ConfigKey {
  const tooSmall = min === 1 ? "must be positive" : `must be at least ${min}`;
  const faultOf = (name: string, value: JsonValue) => {
    if (!Number.isInteger(value)) return `${name} must be an integer, got ${jsonTypeOf(value)}`;
    if ((value as number) < min) return `${name} ${tooSmall}`;
    return (value as number) > INTEGER_MAX ? `${name} must be at most ${INTEGER_MAX}` : undefined;
  };
  return { default: initial, faultOf };
}

/** A positive number. */
export function number(initial: number): ConfigKey {
  const faultOf = (name: string, value: JsonValue) => {
    if (typeof value !== "number") return `${name} must be a number, got ${jsonTypeOf(value)}`;
    // gRPC carries NaN and infinities; JSON does not.
    return Number.isFinite(value) && value > 0 ? undefined : `${name} must be a positive number`;
  };
  return { default: initial, faultOf };
}

export function trait(): ConfigKey {
  const faultOf = (name: string, value: JsonValue) => {
    if (!Number.isInteger(value)) return `${name} must be an integer, got ${jsonTypeOf(value)}`;
    const isInRange = (value as number) >= TRAIT_MIN && (value as number) <= TRAIT_MAX;
    return isInRange ? undefined : `${name} must be an integer between ${TRAIT_MIN} and ${TRAIT_MAX}`;
  };
  return { default: null, faultOf };
}

/** A list that is stored as it is sent. */
export function list(): ConfigKey {
  return { default: null, faultOf: wrongType("list", "a list") };
}

/** An object that is stored as it is sent. */
export function object(): ConfigKey {
  return { default: null, faultOf: wrongType("object", "an object") };
}

export function texts(): ConfigKey {
  const faultOf = (name: string, value: JsonValue) =>
    wrongType("list", "a list")(name, value) ??
    firstFault(value as readonly JsonValue[], (item, index) => wrongType("string", "a string")(`${name}[${index}]`, item));
  return { default: null, faultOf };
}

/** Named sets of retain settings: the values of keys that `keyOf` knows are checked like the keys themselves. */
export function strategies(keyOf: (name: string) => ConfigKey | undefined): ConfigKey {
  const faultOfStrategy = (path: string, settings: JsonObject) =>
    firstFault(Object.entries(settings), ([name, value]) =>
      value === null ? undefined : keyOf(name)?.faultOf(`${path}.${name}`, value),
    );
  const faultOf = (name: string, value: JsonValue) => {
    if (!isJsonObject(value)) return `${name} must be an object, got ${jsonTypeOf(value)}`;
    return firstFault(Object.entries(value), ([strategy, settings]) => {
      if (strategy.trim() === "") return `${name} must not hold a strategy with an empty name`;
      if (!isJsonObject(settings)) return `${name}.${strategy} must be an object, got ${jsonTypeOf(settings)}`;
      return faultOfStrategy(`${name}.${strategy}`, settings);
    });
  };
  return { default: null, faultOf };
}

/** A controlled vocabulary of entities. */
export function labelGroups(): ConfigKey {
  const faultOf = (name: string, value: JsonValue) =>
    Array.isArray(value) ? entityLabelsFault(name, value) : `${name} must be a list, got ${jsonTypeOf(value)}`;
  return { default: null, faultOf };
}

/** How many observations each scope may hold: `[{scope: [glob...], limit}]`. */
export function scopeLimits(min: number): ConfigKey {
  const limitFault = integer(null, { min }).faultOf;
  const faultOf = (name: string, value: JsonValue) => {
    if (!Array.isArray(value)) return `${name} must be a list, got ${jsonTypeOf(value)}`;
    return firstFault(value as readonly JsonValue[], (entry, index) => {
      const path = `${name}[${index}]`;
      if (!isJsonObject(entry)) return `${path} must be an object, got ${jsonTypeOf(entry)}`;
      return texts().faultOf(`${path}.scope`, entry["scope"] ?? null) ?? limitFault(`${path}.limit`, entry["limit"] ?? null);
    });
  };
  return { default: null, faultOf };
}

function wrongType(type: ReturnType<typeof jsonTypeOf>, article: string) {
  return (name: string, value: JsonValue): string | undefined =>
    jsonTypeOf(value) === type ? undefined : `${name} must be ${article}, got ${jsonTypeOf(value)}`;
}

function firstFault<T>(items: readonly T[], faultOf: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const fault = faultOf(item, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
