import type OpenAI from "openai";
import type { CompletionRequest, JsonSchema, Message } from "./language-model.ts";

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;

/** How a server is asked for JSON, from the strictest way to the one that every server understands. */
const jsonModes = ["json_schema", "json_object", "text"] as const;
type JsonMode = (typeof jsonModes)[number];

/** What a server turned out not to understand. Learnt from its refusals, kept per model. */
export interface Dialect {
  readonly jsonMode: JsonMode;
  readonly tokensMember: "max_completion_tokens" | "max_tokens";
  readonly takesTemperature: boolean;
  /** Whether one tool can be forced by its name. */
  readonly takesToolNames: boolean;
}

/** OpenAI's own interface. Other servers mostly know the older name of the token bound only. */
export function firstDialect(baseUrl: string): Dialect {
  const isOpenai = URL.parse(baseUrl)?.hostname.endsWith("openai.com") ?? false;
  return {
    jsonMode: "json_schema",
    tokensMember: isOpenai ? "max_completion_tokens" : "max_tokens",
    takesTemperature: true,
    takesToolNames: true,
  };
}

/** What to try after a server called a request malformed; `undefined` when nothing that it might not know is left in the request. */
export function nextDialect(dialect: Dialect, request: CompletionRequest, complaint: string): Dialect | undefined {
  if (/temperature/i.test(complaint) && dialect.takesTemperature && request.temperature !== undefined) {
    return { ...dialect, takesTemperature: false };
  }
  if (/max_completion_tokens|max_tokens/i.test(complaint)) {
    const other = dialect.tokensMember === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    return complaint.includes(dialect.tokensMember) ? { ...dialect, tokensMember: other } : undefined;
  }
  if (request.schema && dialect.jsonMode !== "text") {
    return { ...dialect, jsonMode: jsonModes[jsonModes.indexOf(dialect.jsonMode) + 1]! };
  }
  if (request.tools && typeof request.tools.choice === "object" && dialect.takesToolNames) {
    return { ...dialect, takesToolNames: false };
  }
  return undefined;
}

/** The request in the server's words. */
export function paramsOf(model: string, request: CompletionRequest, dialect: Dialect): Params {
  return {
    model,
    messages: [...request.messages.map(messageOf), ...schemaInWords(request, dialect)],
    [dialect.tokensMember]: request.maxTokens,
    ...(request.temperature !== undefined && dialect.takesTemperature ? { temperature: request.temperature } : {}),
    ...responseFormat(request, dialect),
    ...toolParams(request, dialect),
  };
}

function messageOf(message: Message): OpenAI.ChatCompletionMessageParam {
  switch (message.role) {
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
    case "assistant":
      return {
        role: "assistant",
        content: message.content === "" && message.toolCalls ? null : message.content,
        ...(message.toolCalls
          ? {
              tool_calls: message.toolCalls.map((call) => ({
                id: call.id,
                type: "function" as const,
                function: {
                  name: call.name,
                  arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
                },
              })),
            }
          : {}),
      };
    default:
      return { role: message.role, content: message.content };
  }
}

function responseFormat({ schema }: CompletionRequest, { jsonMode }: Dialect): Pick<Params, "response_format"> {
  if (!schema || jsonMode === "text") return {};
  if (jsonMode === "json_object") return { response_format: { type: "json_object" } };
  const { name, shape } = schema;
  return { response_format: { type: "json_schema", json_schema: { name, schema: { ...shape }, strict: isStrict(shape) } } };
}

/** A server that cannot be bound to the schema is told about it. */
function schemaInWords({ schema }: CompletionRequest, { jsonMode }: Dialect): OpenAI.ChatCompletionMessageParam[] {
  if (!schema || jsonMode === "json_schema") return [];
  const text = `Answer with one JSON value and nothing else. It must follow this JSON schema:\n${JSON.stringify(schema.shape)}`;
  return [{ role: "system", content: text }];
}

function toolParams({ tools }: CompletionRequest, { takesToolNames }: Dialect): Pick<Params, "tools" | "tool_choice"> {
  if (!tools) return {};
  const { choice } = tools;
  // Where a tool cannot be forced by name, offering only that one and requiring a call comes to the same.
  const offered =
    typeof choice === "object" && !takesToolNames ? tools.offered.filter(({ name }) => name === choice.name) : tools.offered;
  return {
    tools: offered.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters: { ...parameters } },
    })),
    tool_choice:
      typeof choice === "string" ? choice : takesToolNames ? { type: "function", function: { name: choice.name } } : "required",
  };
}

/** Whether the schema is of the kind that can be enforced word for word: every object closed, every member required. */
function isStrict(shape: unknown): boolean {
  if (Array.isArray(shape)) return shape.every(isStrict);
  if (typeof shape !== "object" || shape === null) return true;
  const { type, properties, required, additionalProperties, items, anyOf } = shape as JsonSchema;
  if (type === "object" || properties !== undefined) {
    const names = Object.keys((properties as object | undefined) ?? {});
    const isClosed = additionalProperties === false && names.every((name) => (required as string[] | undefined)?.includes(name));
    if (!isClosed || !Object.values((properties as object | undefined) ?? {}).every(isStrict)) return false;
  }
  return isStrict(items) && isStrict(anyOf);
}
