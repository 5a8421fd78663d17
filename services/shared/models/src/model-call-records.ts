import type { Logger, Meter } from "@memory-bank/telemetry";
import type { LanguageTask, TokenUsage } from "./language-model.ts";

/** What is kept of a call of a language model: no prompt and no answer. */
export interface ModelCallRecord {
  readonly task: LanguageTask;
  readonly model: string;
  readonly durationMs: number;
  /** Zero for a call that failed. */
  readonly usage: TokenUsage;
  /** A finish reason, or the code of the error. */
  readonly outcome: string;
}

/** Shows calls as metrics and as one log line each. */
export function createCallRecorder({ log, meter }: { readonly log: Logger; readonly meter?: Meter }) {
  const calls = meter?.counter({
    name: "llm_calls_total",
    help: "Calls of the language model by outcome",
    labels: ["task", "outcome"],
  });
  const tokens = meter?.counter({ name: "llm_tokens_total", help: "Tokens of the language model", labels: ["task", "kind"] });
  const duration = meter?.histogram({
    name: "llm_call_duration_seconds",
    help: "Time of one call with its retries",
    labels: ["task"],
  });
  return (record: ModelCallRecord): void => {
    const { task, outcome, usage, durationMs } = record;
    calls?.add({ task, outcome });
    for (const [kind, amount] of Object.entries(usage)) tokens?.add({ task, kind }, amount);
    duration?.observe(durationMs / 1_000, { task });
    log.info({ ...record }, "language model called");
  };
}
