import { isAppError } from "@memory-bank/errors";
import type { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { Rpc } from "@memory-bank/rpc";
import { type ReflectDeps, readBank } from "../reflect-deps.ts";

type Health = Pick<Rpc<typeof ReflectServiceService>, "testLanguageModel">;

const TRIAL_TIMEOUT_MS = 30_000; // a person waits for the answer
const TRIAL_TOKENS = 64; // room for a word after a little reasoning

/** Whether the language model answers at all, asked with a question that costs next to nothing. */
export const languageModelHandlers = (deps: ReflectDeps): Health => ({
  async testLanguageModel(ctx, { bankId }) {
    await readBank(deps, ctx, bankId);
    const model = deps.languageModel;
    if (model.kind === "none") return { status: "disabled", provider: "none", model: "", latencyMs: 0 };
    if (model.kind === "local") return { status: "ok", provider: "local", model: "local", latencyMs: 0 };
    const startedUs = deps.nowUs();
    const latencyMs = () => Math.round((deps.nowUs() - startedUs) / 1_000);
    const about = { provider: model.kind, model: model.model };
    try {
      await model.complete({
        task: "reflect",
        messages: [{ role: "user", content: "Answer with the single word: ready" }],
        maxTokens: TRIAL_TOKENS,
        signal: AbortSignal.any([ctx.signal, AbortSignal.timeout(TRIAL_TIMEOUT_MS)]),
      });
      return { status: "ok", ...about, latencyMs: latencyMs() };
    } catch (error) {
      deps.log.warn({ err: error }, "the trial of the language model failed");
      return { status: "error", ...about, latencyMs: latencyMs(), error: isAppError(error) ? error.message : "Internal error" };
    }
  },
});
