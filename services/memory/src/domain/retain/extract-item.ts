import type { LanguageModel } from "@memory-bank/models";
import { noUsage } from "../token-usage.ts";
import { extractionSteps } from "./extract.ts";
import { extractWithModel, type ModelExtraction } from "./extract-with-model.ts";
import type { RetainSettings } from "./retain-settings.ts";

export interface ItemText {
  readonly content: string;
  readonly context: string;
  readonly timestampUs: number | undefined;
  readonly narrator: string | undefined;
}

export interface Reader {
  readonly settings: RetainSettings;
  readonly languageModel: LanguageModel;
  readonly signal: AbortSignal;
}

/** Draws the facts from an item as its bank wants it: by a language model where the bank and the process have one, else by rules. */
export async function extractItem(item: ItemText, { settings, languageModel, signal }: Reader): Promise<ModelExtraction> {
  const { mode, chunkSize, structuredChunkSize, mission, customInstructions, labels, keepsFreeEntities } = settings;
  const { content, context, timestampUs, narrator } = item;
  const input = { content, context, timestampUs, chunkSize, structuredChunkSize };
  if (settings.isReadByModel && languageModel.kind === "openai" && mode !== "chunks") {
    const guidance = { mode, mission, customInstructions, labels, narrator };
    return extractWithModel(languageModel, { ...input, guidance, keepsFreeEntities }, signal);
  }
  const steps = extractionSteps({ ...input, mode });
  for (;;) {
    const step = steps.next();
    if (step.done) return { ...step.value, usage: noUsage };
    signal.throwIfAborted();
    // Long texts are read in steps; `setImmediate` lets timers and sockets run first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
