import {
  type ConfigKey,
  flag,
  integer,
  labelGroups,
  list,
  number,
  object,
  scopeLimits,
  strategies,
  text,
  texts,
  trait,
  word,
} from "./config-values.ts";
import type { JsonValue } from "./json.ts";

const UNLIMITED = -1;

/** Every key that a layer (global, tenant, bank) may set: its type, its built-in default and what it may hold. */
export const overridableKeys = {
  retain_extraction_mode: word("concise", ["concise", "verbose", "verbatim", "chunks", "custom"]),
  retain_mission: text(),
  retain_custom_instructions: text(),
  retain_chunk_size: integer(3_000, { min: 1 }),
  retain_structured_chunk_size: integer(null, { min: 1 }),
  retain_chunk_batch_size: integer(100, { min: 1 }),
  retain_default_strategy: text(),
  retain_strategies: strategies((name) => strategyKey(name)),
  entity_labels: labelGroups(),
  entities_allow_free_form: flag(true),
  store_document_text: flag(true),
  enable_observations: flag(true),
  enable_auto_consolidation: flag(true),
  observations_mission: text(),
  consolidation_llm_batch_size: integer(8, { min: 1 }),
  consolidation_llm_parallelism: integer(4, { min: 1 }),
  consolidation_max_memories_per_round: integer(100, { min: 0 }),
  consolidation_source_facts_max_tokens: integer(4_096, { min: UNLIMITED }),
  consolidation_source_facts_max_tokens_per_observation: integer(256, { min: UNLIMITED }),
  max_observations_per_scope: integer(UNLIMITED, { min: UNLIMITED }),
  observation_scope_limits: scopeLimits(UNLIMITED),
  enable_temporal_retrieval: flag(true),
  enable_graph_retrieval: flag(true),
  enable_reranking: flag(true),
  recall_include_chunks: flag(true),
  recall_max_tokens: integer(2_048, { min: 1 }),
  recall_chunks_max_tokens: integer(1_000, { min: 0 }),
  recall_budget_function: word("fixed", ["fixed", "adaptive"]),
  recall_budget_fixed_low: integer(100, { min: 1 }),
  recall_budget_fixed_mid: integer(300, { min: 1 }),
  recall_budget_fixed_high: integer(1_000, { min: 1 }),
  recall_budget_adaptive_low: number(0.025),
  recall_budget_adaptive_mid: number(0.075),
  recall_budget_adaptive_high: number(0.25),
  recall_budget_min: integer(20, { min: 1 }),
  recall_budget_max: integer(2_000, { min: 1 }),
  reflect_mission: text(),
  reflect_source_facts_max_tokens: integer(UNLIMITED, { min: UNLIMITED }),
  disposition_skepticism: trait(),
  disposition_literalism: trait(),
  disposition_empathy: trait(),
  mental_model_min_refresh_interval_seconds: integer(0, { min: 0 }),
  mcp_enabled_tools: texts(),
  audit_log_enabled: flag(true),
  llm_gemini_safety_settings: list(),
  memory_defense: object(),
} as const satisfies Readonly<Record<string, ConfigKey>>;

export type OverridableKey = keyof typeof overridableKeys;

/** The keys that a retain strategy may set; its other members are kept and have no effect. */
function strategyKey(name: string): ConfigKey | undefined {
  const isOfRetain = name.startsWith("retain_") || name.startsWith("entit") || name === "store_document_text";
  const isNested = name === "retain_strategies" || name === "retain_default_strategy";
  return isOfRetain && !isNested ? findOverridableKey(name) : undefined;
}

/** The key of that name, or `undefined`; safe for names such as `constructor`. */
export function findOverridableKey(name: string): ConfigKey | undefined {
  return Object.hasOwn(overridableKeys, name) ? overridableKeys[name as OverridableKey] : undefined;
}

/**
 * Keys that callers see and only the server sets, with the value shown when its root says nothing. `null` at a
 * per-purpose provider or model means the general one.
 */
export const readOnlyKeys = {
  llm_provider: "local",
  llm_model: "local",
  retain_llm_provider: null,
  retain_llm_model: null,
  reflect_llm_provider: null,
  reflect_llm_model: null,
  consolidation_llm_provider: null,
  consolidation_llm_model: null,
  embeddings_provider: "local",
  embeddings_model: null,
  reranker_provider: "local",
  reranker_model: null,
  retain_extract_causal_links: true,
  semantic_link_min_similarity: 0.7,
  retain_dedup_threshold: 0.95,
  reflect_max_iterations: 10,
} as const satisfies Readonly<Record<string, JsonValue>>;

export type ReadOnlyKey = keyof typeof readOnlyKeys;

/** Keys of the server that no layer may set and that callers do not see. */
export const serverKeys: ReadonlySet<string> = new Set([
  "retain_temperature",
  "reflect_temperature",
  "consolidation_temperature",
  "retain_max_completion_tokens",
  "retain_batch_tokens",
  "semantic_min_similarity",
  "graph_seed_min_similarity",
  "temporal_semantic_min_similarity",
  "bm25_min_score",
  "bm25_max_query_terms",
  "reranker_max_candidates",
  "recall_max_query_tokens",
  "link_expansion_per_entity_limit",
  "recency_decay_function",
  "recency_decay_days",
  "recency_decay_half_life_days",
  "consolidation_dedup_threshold",
  "consolidation_batch_size",
  "consolidation_max_attempts",
  "reflect_max_context_tokens",
  "worker_max_retries",
  "worker_retry_delay_seconds",
  "worker_poll_interval_ms",
  "operation_retention_days",
  "audit_log_actions",
  "audit_log_retention_days",
  "webhook_event_types",
  "webhook_allowed_hosts",
]);

// Providers come and go, so credentials are recognised by how their names end. Addresses count: they may carry a password.
const credentialName =
  /(^|_)(api_key|secret|secret_key|access_key|password|token|credentials|pepper|encryption_key|base_url|database_url|webhook_url|mongodb_url|qdrant_url|nats_url)$/;

export function namesCredential(name: string): boolean {
  return credentialName.test(name);
}
