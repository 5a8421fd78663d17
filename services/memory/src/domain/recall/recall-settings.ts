export type Budget = "low" | "mid" | "high";

/** How a bank wants to be searched: the resolved configuration. */
export interface RecallSettings {
  /** Candidates from each arm. */
  readonly budget: number;
  readonly isTemporalEnabled: boolean;
  readonly isGraphEnabled: boolean;
  readonly isRerankingEnabled: boolean;
}

/** The candidates per arm for a budget word: fixed, or a share of the asked tokens within bounds (contract 14.2). */
export function recallSettings(config: Readonly<Record<string, unknown>>, budget: Budget, maxTokens: number): RecallSettings {
  const number = (key: string) => config[key] as number;
  const adaptive = Math.round(number(`recall_budget_adaptive_${budget}`) * maxTokens);
  const isAdaptive = config["recall_budget_function"] === "adaptive";
  return {
    budget: isAdaptive
      ? Math.min(Math.max(adaptive, number("recall_budget_min")), number("recall_budget_max"))
      : number(`recall_budget_fixed_${budget}`),
    isTemporalEnabled: Boolean(config["enable_temporal_retrieval"]),
    isGraphEnabled: Boolean(config["enable_graph_retrieval"]),
    isRerankingEnabled: Boolean(config["enable_reranking"]),
  };
}
