/** What a call is for. Tells costs apart in metrics and lets a deployment give each task a model of its own. */
export type LanguageTask = "retain" | "consolidation" | "reflect";

/** One turn of the conversation that is sent. */
export type Message =
  | { readonly role: "system" | "user"; readonly content: string }
  /** What the model said before: its words, the tools that it asked for, or both. */
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  /** The result of one tool call; each call of the turn before has exactly one. */
  | { readonly role: "tool"; readonly toolCallId: string; readonly content: string };

/** A JSON Schema object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Tool {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface ToolCall {
  /** Chosen by the model; unique within the conversation. */
  readonly id: string;
  readonly name: string;
  /** Parsed JSON, not checked against the tool's `parameters`: models err. */
  readonly arguments: unknown;
}

interface CompletionBase {
  readonly task: LanguageTask;
  readonly messages: readonly Message[];
  /** Tokens that the model may write, its reasoning included. */
  readonly maxTokens: number;
  /** 0 for the most predictable answer. Left out for the model's own default; models that have none ignore it. */
  readonly temperature?: number;
  readonly signal: AbortSignal;
}

export interface TextCompletionRequest extends CompletionBase {
  readonly schema?: undefined;
  readonly tools?: undefined;
}

/** Asks for one JSON value. */
export interface JsonCompletionRequest extends CompletionBase {
  readonly schema: {
    /** Letters, digits, `_` and `-`, at most 64: services want one. */
    readonly name: string;
    readonly shape: JsonSchema;
  };
  readonly tools?: undefined;
}

/** Lets the model call tools instead of, or beside, answering. */
export interface ToolCompletionRequest extends CompletionBase {
  readonly schema?: undefined;
  readonly tools: {
    readonly offered: readonly Tool[];
    /** `auto`: the model decides; `required`: it must call one; a name: it must call that one. */
    readonly choice: "auto" | "required" | { readonly name: string };
  };
}

export type CompletionRequest = TextCompletionRequest | JsonCompletionRequest | ToolCompletionRequest;

/** Tokens as the service counts and bills them. */
export interface TokenUsage {
  readonly input: number;
  /** Everything that was written, reasoning included. */
  readonly output: number;
  /** Part of `input` that was read from the service's cache. */
  readonly cached: number;
  /** Part of `output` that was reasoning and is not in the answer. */
  readonly reasoning: number;
}

/**
 * Why the model stopped. `length`: at `maxTokens`, so that the answer is cut off. `filtered`: the service withheld the
 * answer; its text may be empty.
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "filtered";

interface CompletionResult {
  readonly usage: TokenUsage;
  readonly finishReason: FinishReason;
}

export type Completion =
  | (CompletionResult & { readonly kind: "text"; readonly text: string })
  /** `json` is parsed, not checked against the schema. Never with `finishReason` `length`: cut-off JSON comes as `text`. */
  | (CompletionResult & { readonly kind: "json"; readonly json: unknown })
  /** At least one call; `text` is what the model said beside it, often nothing. */
  | (CompletionResult & { readonly kind: "toolCalls"; readonly toolCalls: readonly ToolCall[]; readonly text: string });

/**
 * A model that writes. `local` and `none` are no models: services then work by rules, or not at all, and never call
 * `complete`, so only the third member has it.
 *
 * Contract of `complete`:
 * - it answers one completion; a request with a schema gets `json`, or `text` when the answer is no JSON or was cut off;
 *   a request with tools gets `toolCalls` or `text`; every other one `text`;
 * - it retries by itself what can be retried, and then throws `unavailable` (or `resource_exhausted` with `retryAfterMs`
 *   when a rate limit was the reason); a refusal that would come again (wrong key, unknown model) is `failed_precondition`;
 *   a prompt longer than the model can read is `invalid_argument` with reason `PROMPT_TOO_LONG`;
 * - it throws `cancelled` when `signal` aborts;
 * - errors never carry the prompt, the answer or the key.
 */
export type LanguageModel =
  | { readonly kind: "local" }
  | { readonly kind: "none" }
  | {
      readonly kind: "openai";
      /** For `config` answers and logs. */
      readonly model: string;
      complete(request: CompletionRequest): Promise<Completion>;
    };
