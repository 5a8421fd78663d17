import { AppError } from "@memory-bank/errors";
import {
  findOverridableKey,
  namesCredential,
  type OverridableKey,
  overridableKeys,
  type ReadOnlyKey,
  readOnlyKeys,
  serverKeys,
} from "./config-keys.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Values that one layer sets, by overridable key; never null. */
export type ConfigValues = Readonly<Partial<Record<OverridableKey, JsonValue>>>;

/** The layers above a bank. */
export interface UpperLayers {
  readonly global: ConfigValues;
  readonly tenant: ConfigValues;
}

/** Every overridable key with its value: the last layer that sets it wins, then the built-in default. Null is "no value". */
export function resolveConfig(...layers: readonly ConfigValues[]): Readonly<Record<OverridableKey, JsonValue>> {
  const resolved: Record<string, JsonValue> = { ...defaults };
  for (const layer of layers) {
    // A key that this version does not know any more may still be stored.
    for (const [name, value] of Object.entries(layer)) if (Object.hasOwn(defaults, name)) resolved[name] = value;
  }
  return resolved as Record<OverridableKey, JsonValue>;
}

/** The value of one key, without resolving the others. */
export function resolveKey(name: OverridableKey, ...layers: readonly ConfigValues[]): JsonValue {
  return layers.findLast((layer) => layer[name] !== undefined)?.[name] ?? overridableKeys[name].default;
}

const defaults = Object.fromEntries(Object.entries(overridableKeys).map(([name, key]) => [name, key.default]));

/** What the root tells of the read-only keys; the others have their defaults. */
export type ReadOnlyValues = Readonly<Partial<Record<ReadOnlyKey, JsonValue>>>;

/** Every read-only key. A purpose without a provider or model of its own shows the general one. */
export function completeReadOnlyValues(given: ReadOnlyValues): Readonly<Record<ReadOnlyKey, JsonValue>> {
  const values: Record<ReadOnlyKey, JsonValue> = { ...readOnlyKeys, ...given };
  for (const purpose of ["retain", "reflect", "consolidation"] as const) {
    values[`${purpose}_llm_provider`] ??= values.llm_provider;
    values[`${purpose}_llm_model`] ??= values.llm_model;
  }
  return values;
}

/**
 * `current` with `updates` applied; a null removes. Throws one `invalid_argument`, reason `INVALID_CONFIG`, that names
 * every fault; then nothing of the updates counts.
 */
export function changeOverrides(current: ConfigValues, updates: JsonObject, upper: UpperLayers): ConfigValues {
  const faults: string[] = [];
  const changes = readUpdates(updates, faults);
  const changed: Record<string, JsonValue> = { ...current };
  for (const [name, value] of changes) {
    if (value === null) delete changed[name];
    else changed[name] = value;
  }
  if (faults.length === 0) faults.push(...combinationFaults(resolveConfig(upper.global, upper.tenant, changed), changes));
  if (faults.length > 0) throw invalidConfig(faults);
  return changed;
}

/** A whole layer, checked like the overrides of a bank. Nulls are left out. Faults are added to `faults`. */
export function readLayer(values: unknown, below: readonly ConfigValues[], faults: string[]): ConfigValues {
  if (!isJsonObject(values)) {
    faults.push("must be an object");
    return {};
  }
  const own: string[] = [];
  const given = readUpdates(values, own);
  const layer = Object.fromEntries([...given].filter(([, value]) => value !== null)) as ConfigValues;
  if (own.length === 0) own.push(...combinationFaults(resolveConfig(...below, layer), given));
  faults.push(...own);
  return layer;
}

export function invalidConfig(faults: readonly string[]): AppError {
  return new AppError("invalid_argument", "INVALID_CONFIG", faults.join("; "), { details: { faults } });
}

type Updates = ReadonlyMap<string, JsonValue>;

function readUpdates(updates: JsonObject, faults: string[]): Updates {
  const changes = new Map<string, JsonValue>();
  for (const [spelling, value] of Object.entries(updates)) {
    const name = keyNameOf(spelling);
    const key = findOverridableKey(name);
    const fault = key ? (value === null ? undefined : key.faultOf(name, value)) : refusalOf(name, spelling);
    if (fault !== undefined) faults.push(fault);
    else if (changes.has(name)) faults.push(`${name} is given twice, in two spellings`);
    else changes.set(name, value);
  }
  return changes;
}

/** Why a name that is no overridable key cannot be set. */
function refusalOf(name: string, spelling: string): string {
  if (Object.hasOwn(readOnlyKeys, name)) return `${name} is read-only`;
  if (namesCredential(name)) return `${name} is a credential and cannot be set here`;
  if (serverKeys.has(name)) return `${name} is set for the whole server and cannot be overridden`;
  return `Unknown configuration key '${spelling}'`;
}

// Longest first: a name is tried without each in turn. The first two are what existing clients send.
const servicePrefixes = ["hindsight_api_", "memory_bank_", "hindsight_", "gateway_", "reflect_", "memory_", "bank_"];

/** The snake-case name that a spelling means: `RETAIN_MISSION` and `HINDSIGHT_API_RETAIN_MISSION` mean `retain_mission`. */
export function keyNameOf(spelling: string): string {
  if (!/^[A-Z][A-Z0-9_]*$/.test(spelling)) return spelling;
  const name = spelling.toLowerCase();
  if (isKnownName(name)) return name;
  const stripped = servicePrefixes.filter((prefix) => name.startsWith(prefix)).map((prefix) => name.slice(prefix.length));
  return stripped.find(isKnownName) ?? stripped[0] ?? name;
}

function isKnownName(name: string): boolean {
  return findOverridableKey(name) !== undefined || Object.hasOwn(readOnlyKeys, name) || serverKeys.has(name);
}

/**
 * Faults that only several keys together have. A rule is looked at when one of its keys is changed, so that an upper
 * layer that has changed since does not get in the way of other keys.
 */
function combinationFaults(resolved: Readonly<Record<OverridableKey, JsonValue>>, changes: Updates): string[] {
  return combinations
    .filter(({ keys, holds }) => keys.some((key) => changes.has(key)) && !holds(resolved))
    .map(({ fault }) => fault);
}

type Combination = {
  readonly keys: readonly OverridableKey[];
  readonly holds: (config: Readonly<Record<OverridableKey, JsonValue>>) => boolean;
  readonly fault: string;
};

const combinations: readonly Combination[] = [
  {
    keys: ["retain_extraction_mode", "retain_custom_instructions"],
    holds: (config) =>
      config.retain_extraction_mode !== "custom" || String(config.retain_custom_instructions ?? "").trim() !== "",
    fault: "retain_extraction_mode 'custom' needs retain_custom_instructions",
  },
  {
    keys: ["recall_budget_min", "recall_budget_max"],
    holds: (config) => Number(config.recall_budget_min) <= Number(config.recall_budget_max),
    fault: "recall_budget_min must not be above recall_budget_max",
  },
  {
    keys: ["retain_default_strategy", "retain_strategies"],
    holds: ({ retain_default_strategy: name, retain_strategies: strategies }) =>
      typeof name !== "string" || (isJsonObject(strategies) && Object.hasOwn(strategies, name)),
    fault: "retain_default_strategy must be the name of a strategy in retain_strategies",
  },
];
