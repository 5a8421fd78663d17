import type { Logger, Meter } from "@memory-bank/telemetry";
import type { LanguageModel } from "./language-model.ts";
import { createCallRecorder } from "./model-call-records.ts";
import { createOpenaiLanguageModel, type OpenaiLanguageModelConfig } from "./openai-language-model.ts";

export type LanguageModelConfig =
  | { readonly kind: "local" }
  | { readonly kind: "none" }
  | ({ readonly kind: "openai" } & OpenaiLanguageModelConfig);

/** The one place where configuration becomes a language model. Its calls show in the metrics and in the log. */
export async function openLanguageModel(
  config: LanguageModelConfig,
  { log, meter }: { readonly log: Logger; readonly meter?: Meter },
): Promise<LanguageModel> {
  if (config.kind !== "openai") return { kind: config.kind };
  return createOpenaiLanguageModel(config, createCallRecorder({ log, ...(meter ? { meter } : {}) }));
}
