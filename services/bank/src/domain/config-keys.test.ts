import { describe, expect, test } from "vitest";
import {
  findOverridableKey,
  namesCredential,
  type OverridableKey,
  overridableKeys,
  readOnlyKeys,
  serverKeys,
} from "./config-keys.ts";
import type { JsonValue } from "./json.ts";

interface Expectation {
  readonly initial: JsonValue;
  readonly good: readonly JsonValue[];
  /** Value to what is said about it, without the key's name. */
  readonly bad: readonly (readonly [JsonValue, string])[];
}

const INT32_MAX = 2_147_483_647;

const textKey: Expectation = {
  initial: null,
  good: ["", "Note what was promised."],
  bad: [
    [7, "must be a string, got number"],
    [["a"], "must be a string, got list"],
  ],
};
const flagKey: Expectation = {
  initial: true,
  good: [true, false],
  bad: [
    ["true", "must be a boolean, got string"],
    [1, "must be a boolean, got number"],
  ],
};
const integerKey = (initial: JsonValue, min: number): Expectation => ({
  initial,
  good: [min, min + 1, INT32_MAX],
  bad: [
    [min - 1, min === 1 ? "must be positive" : `must be at least ${min}`],
    [INT32_MAX + 1, `must be at most ${INT32_MAX}`],
    [2.5, "must be an integer, got number"],
    ["5", "must be an integer, got string"],
    [true, "must be an integer, got boolean"],
  ],
});
const numberKey = (initial: number): Expectation => ({
  initial,
  good: [0.01, 1, 3.5],
  bad: [
    [0, "must be a positive number"],
    [-0.5, "must be a positive number"],
    [Number.NaN, "must be a positive number"],
    [Number.POSITIVE_INFINITY, "must be a positive number"],
    ["0.5", "must be a number, got string"],
  ],
});
const traitKey: Expectation = {
  initial: null,
  good: [1, 2, 3, 4, 5],
  bad: [
    [0, "must be an integer between 1 and 5"],
    [6, "must be an integer between 1 and 5"],
    [2.5, "must be an integer, got number"],
    ["3", "must be an integer, got string"],
  ],
};

const expectations: Readonly<Record<OverridableKey, Expectation>> = {
  retain_extraction_mode: {
    initial: "concise",
    good: ["concise", "verbose", "verbatim", "chunks", "custom"],
    bad: [
      ["Concise", "must be one of concise, verbose, verbatim, chunks, custom"],
      [3, "must be a string, got number"],
    ],
  },
  retain_mission: textKey,
  retain_custom_instructions: textKey,
  retain_chunk_size: integerKey(3_000, 1),
  retain_structured_chunk_size: integerKey(null, 1),
  retain_chunk_batch_size: integerKey(100, 1),
  retain_default_strategy: textKey,
  retain_strategies: {
    initial: null,
    good: [
      {},
      { brief: {} },
      { brief: { retain_chunk_size: 500, retain_mission: null, anything_else: [1] }, long: { entities_allow_free_form: false } },
    ],
    bad: [
      [[], "must be an object, got list"],
      [{ " ": {} }, "must not hold a strategy with an empty name"],
      [{ brief: "verbose" }, ".brief must be an object, got string"],
      [{ brief: { retain_chunk_size: 0 } }, ".brief.retain_chunk_size must be positive"],
      [{ brief: { store_document_text: "no" } }, ".brief.store_document_text must be a boolean, got string"],
    ],
  },
  entity_labels: {
    initial: null,
    good: [
      [],
      [{ key: "severity" }],
      [
        {
          key: "severity",
          description: "How bad",
          type: "value",
          optional: true,
          tag: true,
          values: [{ value: "low", description: "mild" }],
        },
        { key: "topic", type: "multi-values", values: ["billing", { value: "login" }] },
        { key: "ticket", type: "text" },
        { key: "address", type: "map", fields: [{ key: "city", type: "text" }, { key: "zip" }] },
      ],
    ],
    bad: [
      [{}, "must be a list, got object"],
      [["severity"], "[0] must be an object, got string"],
      [[{ description: "no key" }], "[0].key must be a non-empty string"],
      [[{ key: " " }], "[0].key must be a non-empty string"],
      [[{ key: "a" }, { key: "a" }], "must not hold two groups with the key 'a'"],
      [[{ key: "a", type: "enum" }], "[0].type must be one of value, multi-values, text, map"],
      [[{ key: "a", optional: "yes" }], "[0].optional must be a boolean, got string"],
      [[{ key: "a", tag: 1 }], "[0].tag must be a boolean, got number"],
      [[{ key: "a", description: 4 }], "[0].description must be a string, got number"],
      [[{ key: "a", values: "low" }], "[0].values must be a list, got string"],
      [[{ key: "a", values: [{ description: "x" }] }], "[0].values[0].value must be a non-empty string"],
      [[{ key: "a", values: [{ value: "x", description: 1 }] }], "[0].values[0].description must be a string, got number"],
      [[{ key: "a", type: "map", fields: {} }], "[0].fields must be a list, got object"],
      [[{ key: "a", type: "map", fields: [{}] }], "[0].fields[0].key must be a non-empty string"],
      [[{ key: "a", type: "map", fields: [{ key: "b", type: "map" }] }], "[0].fields[0].type must not be map inside a map"],
    ],
  },
  entities_allow_free_form: flagKey,
  store_document_text: flagKey,
  enable_observations: flagKey,
  enable_auto_consolidation: flagKey,
  observations_mission: textKey,
  consolidation_llm_batch_size: integerKey(8, 1),
  consolidation_llm_parallelism: integerKey(4, 1),
  consolidation_max_memories_per_round: integerKey(100, 0),
  consolidation_source_facts_max_tokens: integerKey(4_096, -1),
  consolidation_source_facts_max_tokens_per_observation: integerKey(256, -1),
  max_observations_per_scope: integerKey(-1, -1),
  observation_scope_limits: {
    initial: null,
    good: [[], [{ scope: ["user:*", "team"], limit: 5 }], [{ scope: [], limit: -1 }]],
    bad: [
      ["user:*", "must be a list, got string"],
      [["user:*"], "[0] must be an object, got string"],
      [[{ limit: 5 }], "[0].scope must be a list, got null"],
      [[{ scope: [1], limit: 5 }], "[0].scope[0] must be a string, got number"],
      [[{ scope: ["a"] }], "[0].limit must be an integer, got null"],
      [[{ scope: ["a"], limit: -2 }], "[0].limit must be at least -1"],
    ],
  },
  enable_temporal_retrieval: flagKey,
  enable_graph_retrieval: flagKey,
  enable_reranking: flagKey,
  recall_include_chunks: flagKey,
  recall_max_tokens: integerKey(2_048, 1),
  recall_chunks_max_tokens: integerKey(1_000, 0),
  recall_budget_function: {
    initial: "fixed",
    good: ["fixed", "adaptive"],
    bad: [["linear", "must be one of fixed, adaptive"]],
  },
  recall_budget_fixed_low: integerKey(100, 1),
  recall_budget_fixed_mid: integerKey(300, 1),
  recall_budget_fixed_high: integerKey(1_000, 1),
  recall_budget_adaptive_low: numberKey(0.025),
  recall_budget_adaptive_mid: numberKey(0.075),
  recall_budget_adaptive_high: numberKey(0.25),
  recall_budget_min: integerKey(20, 1),
  recall_budget_max: integerKey(2_000, 1),
  reflect_mission: textKey,
  reflect_source_facts_max_tokens: integerKey(-1, -1),
  disposition_skepticism: traitKey,
  disposition_literalism: traitKey,
  disposition_empathy: traitKey,
  mental_model_min_refresh_interval_seconds: integerKey(0, 0),
  mcp_enabled_tools: {
    initial: null,
    good: [[], ["recall", "retain"]],
    bad: [
      ["recall", "must be a list, got string"],
      [[1], "[0] must be a string, got number"],
    ],
  },
  audit_log_enabled: flagKey,
  llm_gemini_safety_settings: { initial: null, good: [[], [{ any: "thing" }]], bad: [[{}, "must be a list, got object"]] },
  memory_defense: { initial: null, good: [{}, { any: ["thing"] }], bad: [[[], "must be an object, got list"]] },
};

describe.each(Object.entries(expectations))("%s", (name, { initial, good, bad }) => {
  const key = overridableKeys[name as OverridableKey];

  test("has its default, which is a good value", () => {
    expect(key.default).toEqual(initial);
    if (initial !== null) expect(key.faultOf(name, initial)).toBeUndefined();
  });
  test.each(good.map((value) => [value]))("takes %j", (value) => {
    expect(key.faultOf(name, value)).toBeUndefined();
  });
  test.each(bad)("refuses %j", (value, fault) => {
    const separator = fault.startsWith(".") || fault.startsWith("[") ? "" : " ";
    expect(key.faultOf(name, value)).toBe(`${name}${separator}${fault}`);
  });
});

test("no name is in two groups, and names of object members are none", () => {
  const names = [...Object.keys(overridableKeys), ...Object.keys(readOnlyKeys), ...serverKeys];
  expect(new Set(names).size).toBe(names.length);
  for (const name of ["constructor", "__proto__", "toString"]) expect(findOverridableKey(name)).toBeUndefined();
});

test("credentials are recognised by their names, and no other key is taken for one", () => {
  for (const name of ["llm_api_key", "retain_llm_api_key", "webhook_secret", "database_url", "llm_base_url", "nats_token"]) {
    expect(namesCredential(name), name).toBe(true);
  }
  const others = [...Object.keys(overridableKeys), ...Object.keys(readOnlyKeys), ...serverKeys];
  expect(others.filter(namesCredential)).toEqual([]);
});
