import type { EntityLabelGroup } from "./entity-labels.ts";

/** How a bank wants its texts read: the resolved configuration, with the item's strategy laid over it. */
export interface RetainSettings {
  /** Whether a language model reads, where the process has one. */
  readonly isReadByModel: boolean;
  readonly mission: string | undefined;
  readonly customInstructions: string | undefined;
  readonly labels: readonly EntityLabelGroup[];
  readonly keepsFreeEntities: boolean;
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
  const provider = values["retain_llm_provider"] ?? values["llm_provider"] ?? "local";
  const text = (key: string): string | undefined => (values[key] as string | null | undefined)?.trim() || undefined;
  const chunkSize = values["retain_chunk_size"] as number;
  return {
    isReadByModel: provider !== "local" && provider !== "none",
    mission: text("retain_mission"),
    customInstructions: text("retain_custom_instructions"),
    labels: (values["entity_labels"] as readonly EntityLabelGroup[] | null | undefined) ?? [],
    keepsFreeEntities: values["entities_allow_free_form"] !== false,
    mode: provider === "none" ? "chunks" : (values["retain_extraction_mode"] as RetainSettings["mode"]),
    chunkSize,
    structuredChunkSize: (values["retain_structured_chunk_size"] as number | null) ?? chunkSize,
    isTextKept: values["store_document_text"] as boolean,
    duplicateThreshold: values["retain_dedup_threshold"] as number,
    semanticLinkMin: values["semantic_link_min_similarity"] as number,
    isConsolidatedAutomatically: Boolean(values["enable_observations"]) && Boolean(values["enable_auto_consolidation"]),
  };
}
