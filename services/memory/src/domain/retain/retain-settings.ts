/** How a bank wants its texts read: the resolved configuration, with the item's strategy laid over it. */
export interface RetainSettings {
  readonly mode: "concise" | "verbose" | "verbatim" | "chunks" | "custom";
  readonly chunkSize: number;
  readonly structuredChunkSize: number;
  readonly isTextKept: boolean;
  readonly duplicateThreshold: number;
  readonly semanticLinkMin: number;
  readonly isConsolidatedAutomatically: boolean;
}

type ConfigValues = Readonly<Record<string, unknown>>;

/** Reads the settings from a bank's resolved configuration; a strategy that the bank does not know changes nothing. */
export function retainSettings(config: ConfigValues, strategyName: string | undefined): RetainSettings {
  const strategies = (config["retain_strategies"] ?? {}) as Readonly<Record<string, ConfigValues>>;
  const chosen = strategyName ?? (config["retain_default_strategy"] as string | null) ?? "";
  const values: ConfigValues = { ...config, ...(Object.hasOwn(strategies, chosen) ? strategies[chosen] : {}) };
  const chunkSize = values["retain_chunk_size"] as number;
  return {
    mode: values["llm_provider"] === "none" ? "chunks" : (values["retain_extraction_mode"] as RetainSettings["mode"]),
    chunkSize,
    structuredChunkSize: (values["retain_structured_chunk_size"] as number | null) ?? chunkSize,
    isTextKept: values["store_document_text"] as boolean,
    duplicateThreshold: values["retain_dedup_threshold"] as number,
    semanticLinkMin: values["semantic_link_min_similarity"] as number,
    isConsolidatedAutomatically: Boolean(values["enable_observations"]) && Boolean(values["enable_auto_consolidation"]),
  };
}
