/** How a bank wants its observations made: its resolved configuration. */
export interface ConsolidationSettings {
  /** Who thinks: `local` rules, a language model, or nobody. */
  readonly provider: "local" | "openai" | "none";
  readonly isEnabled: boolean;
  readonly isAutomatic: boolean;
  readonly mission: string | undefined;
  readonly factsPerBatch: number;
  readonly parallelBatches: number;
  /** Units of one run; Infinity when there is no bound. */
  readonly unitsPerRound: number;
  /** Tokens of source facts shown, in all and per observation; Infinity when there is no bound. */
  readonly sourceTokensMax: number;
  readonly sourceTokensPerObservationMax: number;
  readonly observationsPerScopeMax: number;
  readonly scopeLimits: readonly { readonly scope: readonly string[]; readonly limit: number }[];
  readonly semanticLinkMin: number;
}

type ConfigValues = Readonly<Record<string, unknown>>;

/** Reads the settings; a member that a resolved configuration lacks has the default of contract 3.4. */
export function consolidationSettings(config: ConfigValues): ConsolidationSettings {
  const number = (key: string, byDefault: number): number => (config[key] as number | null | undefined) ?? byDefault;
  const unbounded = (value: number): number => (value < 0 ? Number.POSITIVE_INFINITY : value);
  const perRound = number("consolidation_max_memories_per_round", 100);
  const provider = config["consolidation_llm_provider"] ?? config["llm_provider"] ?? "local";
  const mission = (config["observations_mission"] as string | null | undefined)?.trim();
  return {
    provider: provider === "local" || provider === "none" ? provider : "openai",
    isEnabled: Boolean(config["enable_observations"]),
    isAutomatic: Boolean(config["enable_observations"]) && Boolean(config["enable_auto_consolidation"]),
    mission: mission === "" ? undefined : mission,
    factsPerBatch: number("consolidation_llm_batch_size", 8),
    parallelBatches: number("consolidation_llm_parallelism", 4),
    unitsPerRound: perRound === 0 ? Number.POSITIVE_INFINITY : perRound,
    sourceTokensMax: unbounded(number("consolidation_source_facts_max_tokens", 4096)),
    sourceTokensPerObservationMax: unbounded(number("consolidation_source_facts_max_tokens_per_observation", 256)),
    observationsPerScopeMax: unbounded(number("max_observations_per_scope", -1)),
    scopeLimits: (config["observation_scope_limits"] as ConsolidationSettings["scopeLimits"] | null | undefined) ?? [],
    semanticLinkMin: number("semantic_link_min_similarity", 0.7),
  };
}
