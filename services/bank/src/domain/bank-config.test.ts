import { describe, expect, test } from "vitest";
import {
  changeOverrides,
  completeReadOnlyValues,
  keyNameOf,
  resolveConfig,
  resolveKey,
  type UpperLayers,
} from "./bank-config.ts";
import { parseConfigFile } from "./config-file.ts";
import { overridableKeys } from "./config-keys.ts";
import type { JsonObject } from "./json.ts";

const noLayers: UpperLayers = { global: {}, tenant: {} };
const faultsOf = (updates: JsonObject, upper = noLayers, current = {}): unknown => {
  try {
    changeOverrides(current, updates, upper);
  } catch (error) {
    return error;
  }
  return undefined;
};
const refused = (message: string) => expect.objectContaining({ code: "invalid_argument", violations: [], message });

describe("resolution", () => {
  test("every key is there, with its default when no layer sets it", () => {
    const resolved = resolveConfig();
    expect(Object.keys(resolved)).toEqual(Object.keys(overridableKeys));
    expect(resolved).toMatchObject({ retain_chunk_size: 3_000, retain_mission: null, audit_log_enabled: true });
  });
  test("later layers win, key by key", () => {
    const layers = [{ retain_chunk_size: 1, recall_max_tokens: 1 }, { retain_chunk_size: 2 }, { enable_reranking: false }];
    expect(resolveConfig(...layers)).toMatchObject({ retain_chunk_size: 2, recall_max_tokens: 1, enable_reranking: false });
    expect(resolveKey("retain_chunk_size", ...layers)).toBe(2);
    expect(resolveKey("recall_max_tokens", ...layers)).toBe(1);
    expect(resolveKey("retain_mission", ...layers)).toBeNull();
  });
  test("a stored key that is not known any more is left out", () => {
    expect(resolveConfig({ withdrawn_key: 1 } as object)).not.toHaveProperty("withdrawn_key");
  });
  test("read-only values fall back to the general provider and model", () => {
    expect(completeReadOnlyValues({ llm_provider: "openai", llm_model: "m", reflect_llm_model: "big" })).toMatchObject({
      retain_llm_provider: "openai",
      retain_llm_model: "m",
      reflect_llm_model: "big",
      consolidation_llm_model: "m",
      embeddings_provider: "local",
      semantic_link_min_similarity: 0.7,
    });
  });
});

describe("changes", () => {
  test("set, replace and remove; the rest stays", () => {
    const changed = changeOverrides(
      { retain_mission: "old", enable_reranking: false, recall_max_tokens: 9 },
      { retain_mission: "new", enable_reranking: null, observations_mission: null },
      noLayers,
    );
    expect(changed).toEqual({ retain_mission: "new", recall_max_tokens: 9 });
  });
  test("upper-case spellings mean the key, with or without a service prefix", () => {
    for (const spelling of ["RETAIN_MISSION", "HINDSIGHT_API_RETAIN_MISSION", "MEMORY_RETAIN_MISSION", "BANK_RETAIN_MISSION"]) {
      expect(changeOverrides({}, { [spelling]: "x" }, noLayers)).toEqual({ retain_mission: "x" });
    }
    expect(keyNameOf("REFLECT_MISSION")).toBe("reflect_mission");
    expect(keyNameOf("HINDSIGHT_API_REFLECT_MISSION")).toBe("reflect_mission");
    expect(keyNameOf("Retain_Mission")).toBe("Retain_Mission");
  });
  test.each([
    [{ no_such_key: 1 }, "Unknown configuration key 'no_such_key'"],
    [{ Retain_Mission: "x" }, "Unknown configuration key 'Retain_Mission'"],
    [{ constructor: 1 }, "Unknown configuration key 'constructor'"],
    [{ no_such_key: null }, "Unknown configuration key 'no_such_key'"],
    [{ llm_model: "x" }, "llm_model is read-only"],
    [{ HINDSIGHT_API_LLM_PROVIDER: "x" }, "llm_provider is read-only"],
    [{ retain_dedup_threshold: 0.5 }, "retain_dedup_threshold is read-only"],
    [{ worker_max_retries: 5 }, "worker_max_retries is set for the whole server and cannot be overridden"],
    [{ llm_api_key: "k" }, "llm_api_key is a credential and cannot be set here"],
    [{ HINDSIGHT_API_LLM_API_KEY: "k" }, "llm_api_key is a credential and cannot be set here"],
    [{ DATABASE_URL: "postgres://" }, "database_url is a credential and cannot be set here"],
    [{ retain_mission: "a", RETAIN_MISSION: "b" }, "retain_mission is given twice, in two spellings"],
    [
      { retain_chunk_size: "big", disposition_empathy: 9 },
      "retain_chunk_size must be an integer, got string; disposition_empathy must be an integer between 1 and 5",
    ],
  ])("refuses %j", (updates, message) => {
    expect(faultsOf(updates as JsonObject)).toEqual(refused(message));
  });
  test("values that do not go together are refused, whichever layer holds the other one", () => {
    const customText = "retain_extraction_mode 'custom' needs retain_custom_instructions";
    expect(faultsOf({ retain_extraction_mode: "custom" })).toEqual(refused(customText));
    expect(faultsOf({ retain_extraction_mode: "custom", retain_custom_instructions: " " })).toEqual(refused(customText));
    expect(faultsOf({ retain_extraction_mode: "custom", retain_custom_instructions: "Do so." })).toBeUndefined();
    expect(
      faultsOf({ retain_extraction_mode: "custom" }, { global: {}, tenant: { retain_custom_instructions: "x" } }),
    ).toBeUndefined();
    const minText = "recall_budget_min must not be above recall_budget_max";
    expect(faultsOf({ recall_budget_min: 3_000 })).toEqual(refused(minText));
    expect(faultsOf({ recall_budget_max: 10 })).toEqual(refused(minText));
    expect(faultsOf({ recall_budget_min: 30, recall_budget_max: 30 })).toBeUndefined();
    const strategyText = "retain_default_strategy must be the name of a strategy in retain_strategies";
    expect(faultsOf({ retain_default_strategy: "a" })).toEqual(refused(strategyText));
    expect(faultsOf({ retain_default_strategy: "toString", retain_strategies: {} })).toEqual(refused(strategyText));
    expect(faultsOf({ retain_default_strategy: "a", retain_strategies: { a: {} } })).toBeUndefined();
  });
  test("a combination that an upper layer has broken does not get in the way of other keys", () => {
    const broken: UpperLayers = { global: { recall_budget_min: 5_000 }, tenant: {} };
    expect(faultsOf({ retain_mission: "x" }, broken)).toBeUndefined();
  });
});

describe("configuration file", () => {
  test("holds both upper layers; nulls count as absent", () => {
    const file = parseConfigFile(
      `{"global":{"retain_mission":"g","recall_max_tokens":null},"tenants":{"t1":{"RETAIN_CHUNK_SIZE":500}}}`,
    );
    expect(file.global).toEqual({ retain_mission: "g" });
    expect(file.tenants.get("t1")).toEqual({ retain_chunk_size: 500 });
  });
  test("may be empty", () => {
    expect(parseConfigFile("{}")).toEqual({ global: {}, tenants: new Map() });
  });
  test("every problem is listed with its place", () => {
    const text = `{"globals":{},"global":{"retain_chunk_size":0},"tenants":{"a":{"nope":1,"llm_model":"x"},"b":[]}}`;
    expect(() => parseConfigFile(text)).toThrow(
      "BANK_CONFIG_FILE: globals: unknown member; there are global and tenants; global: retain_chunk_size must be positive; " +
        "tenants.a: Unknown configuration key 'nope'; tenants.a: llm_model is read-only; tenants.b: must be an object",
    );
  });
  test.each(["", "[]", "{"])("%j is refused", (text) => {
    expect(() => parseConfigFile(text)).toThrow(/^BANK_CONFIG_FILE: /);
  });
});
