import { AppError, isAppError } from "@memory-bank/errors";
import { withSpan } from "@memory-bank/telemetry";
import type OpenAI from "openai";
import type { APIError } from "openai";
import { jsonInText } from "./json-in-text.ts";
import type { Completion, CompletionRequest, FinishReason, LanguageModel, LanguageTask, TokenUsage } from "./language-model.ts";
import type { ModelCallRecord } from "./model-call-records.ts";
import { firstDialect, nextDialect, paramsOf } from "./openai-request.ts";
import { createPriorityLimit } from "./priority-limit.ts";

/** Where one kind of work sends its calls. */
export interface OpenaiEndpoint {
  /** Of any service with OpenAI's interface, up to and with its version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

export interface OpenaiLanguageModelConfig extends OpenaiEndpoint {
  /** Tasks that go elsewhere; members that are left out are those of the common endpoint. */
  readonly perTask?: Partial<Record<LanguageTask, Partial<OpenaiEndpoint>>>;
  /** Calls at once in this process, and of one task, so that a long consolidation leaves room for questions. */
  readonly callsMax?: number;
  readonly callsPerTaskMax?: number;
  /** One attempt; a long answer takes a minute or more. */
  readonly attemptTimeoutMs?: number;
}

const CALLS_MAX = 8;
const CALLS_PER_TASK_MAX = 4;
const ATTEMPT_TIMEOUT_MS = 120_000;
/** The client waits 0.5 s, 1 s, 2 s... less up to a quarter by chance, or as long as the service asks for, up to a minute. */
const RETRIES_MAX = 3;
/** Answers that break off in the middle of the body, which the client does not repeat by itself. */
const BROKEN_ANSWERS_MAX = 2;
/** What a server may not understand, one after the other. */
const DIALECTS_MAX = 6;

const tasks: readonly LanguageTask[] = ["retain", "consolidation", "reflect"];
const noUsage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };

/** A model behind OpenAI's chat interface. It adapts to servers that lack parts of it, and remembers what they lack. */
export async function createOpenaiLanguageModel(
  config: OpenaiLanguageModelConfig,
  record: (call: ModelCallRecord) => void,
): Promise<Extract<LanguageModel, { kind: "openai" }>> {
  // Loaded here because it takes 0.2 s that the other providers need not pay.
  const openai = await import("openai");
  const { callsMax = CALLS_MAX, callsPerTaskMax = CALLS_PER_TASK_MAX, attemptTimeoutMs = ATTEMPT_TIMEOUT_MS } = config;
  const ofProcess = createPriorityLimit(callsMax);
  const lines = new Map(tasks.map((task) => [task, openLine(task)]));

  function openLine(task: LanguageTask) {
    const { baseUrl, apiKey, model } = { ...config, ...config.perTask?.[task] };
    const client = new openai.default({
      apiKey,
      baseURL: baseUrl,
      organization: null,
      project: null,
      maxRetries: RETRIES_MAX,
      timeout: attemptTimeoutMs,
      logLevel: "off",
    });
    return { client, model, limit: createPriorityLimit(callsPerTaskMax), dialect: firstDialect(baseUrl) };
  }

  async function complete(request: CompletionRequest): Promise<Completion> {
    const line = lines.get(request.task)!;
    const { signal } = request;
    if (signal.aborted) throw cancelled();
    const startedMs = performance.now();
    const note = (outcome: string, usage: TokenUsage) =>
      record({ task: request.task, model: line.model, durationMs: Math.round(performance.now() - startedMs), usage, outcome });
    try {
      const isUrgent = { urgent: request.task === "reflect", signal };
      const completion = await line.limit.run(() => ofProcess.run(() => attempt(line, request), isUrgent), isUrgent);
      note(completion.finishReason, completion.usage);
      return completion;
    } catch (error) {
      const failure = signal.aborted ? cancelled() : error;
      note(isAppError(failure) ? failure.code : "internal", noUsage);
      throw failure;
    }
  }

  /** One answer, whatever the server must be told differently for it. */
  async function attempt(line: ReturnType<typeof openLine>, request: CompletionRequest): Promise<Completion> {
    let brokenAnswers = 0;
    for (let dialects = 0; ; ) {
      const { dialect } = line;
      try {
        const params = paramsOf(line.model, request, dialect);
        return completionOf(request, await line.client.chat.completions.create(params, { signal: request.signal }));
      } catch (error) {
        if (request.signal.aborted) throw cancelled();
        if (error instanceof openai.APIError) {
          const next = error.status === 400 && !isTooLong(error) ? nextDialect(dialect, request, error.message) : undefined;
          if (!next || ++dialects >= DIALECTS_MAX) throw failureOf(error);
          line.dialect = next;
        } else if (isAppError(error) || ++brokenAnswers > BROKEN_ANSWERS_MAX) {
          throw isAppError(error) ? error : unavailable("broke off its answer", error);
        }
      }
    }
  }

  return {
    kind: "openai",
    model: lines.get("reflect")!.model,
    complete: (request) => withSpan("language model", { "llm.task": request.task }, () => complete(request)),
  };
}

/** What the server answered, in our words. Throws `unavailable` when it is no completion. */
function completionOf(request: CompletionRequest, answer: OpenAI.ChatCompletion): Completion {
  const choice = (answer as Partial<OpenAI.ChatCompletion>).choices?.[0];
  if (!choice?.message) throw unavailable("answered without a completion", undefined);
  const { message } = choice;
  const common = { usage: usageOf(answer.usage) };
  const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
  if (request.tools && calls.length > 0) {
    const toolCalls = calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: argumentsOf(text) }));
    return { ...common, kind: "toolCalls", toolCalls, text: message.content ?? "", finishReason: "tool_calls" };
  }
  const finishReason = message.refusal ? "filtered" : finishReasonOf(choice.finish_reason);
  const text = message.refusal ? "" : (message.content ?? "");
  if (request.schema && finishReason === "stop") {
    const json = jsonInText(text);
    if (json !== undefined) return { ...common, kind: "json", json, finishReason };
  }
  return { ...common, kind: "text", text, finishReason };
}

/** What the tool is called with; text that is no JSON stays text, for the caller to complain about. */
function argumentsOf(text: string): unknown {
  return text.trim() === "" ? {} : (jsonInText(text) ?? text);
}

function finishReasonOf(reason: string | null): FinishReason {
  if (reason === "length") return "length";
  return reason === "content_filter" ? "filtered" : "stop";
}

function usageOf(usage: OpenAI.CompletionUsage | undefined): TokenUsage {
  return {
    input: usage?.prompt_tokens ?? 0,
    output: usage?.completion_tokens ?? 0,
    cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

const isTooLong = ({ code, message }: APIError): boolean =>
  code === "context_length_exceeded" || /context length|maximum context|prompt is too long/i.test(message);

/** Statuses that the same request would meet again are no outage. Messages of the service stay in the cause: they may quote the prompt. */
function failureOf(error: APIError): AppError {
  const { status } = error;
  if (isTooLong(error)) {
    return new AppError("invalid_argument", "PROMPT_TOO_LONG", "The prompt is longer than the language model can read", {
      cause: error,
    });
  }
  if (status === 429) {
    const retryAfterMs = retryAfterOf(error);
    return new AppError("resource_exhausted", "LANGUAGE_MODEL_BUSY", "The language model takes no more requests for now", {
      cause: error,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 409) {
    const text = `The language model refused the request with status ${status}`;
    return new AppError("failed_precondition", "LANGUAGE_MODEL_REFUSED", text, { cause: error });
  }
  return unavailable(status === undefined ? "could not be reached" : `answered ${status}`, error);
}

function retryAfterOf({ headers }: APIError): number | undefined {
  const seconds = Number(headers?.get("retry-after"));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

const cancelled = (): AppError =>
  new AppError("cancelled", "COMPLETION_CANCELLED", "The call of the language model was cancelled");
const unavailable = (what: string, cause: unknown): AppError =>
  new AppError("unavailable", "LANGUAGE_MODEL_UNAVAILABLE", `The language model ${what}`, { cause });
