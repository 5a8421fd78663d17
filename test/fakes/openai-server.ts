import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request of the chat interface, as far as scripts look at it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly tool_choice?: unknown;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name: string; readonly strict: boolean };
  };
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

/** What the server does with one request. */
export type Reply =
  | { readonly text: string; readonly finish?: "stop" | "length" | "content_filter"; readonly delayMs?: number }
  | { readonly calls: readonly { readonly name: string; readonly arguments: unknown }[] }
  | { readonly refusal: string }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
      readonly code?: string;
    }
  /** Closes the connection without an answer. */
  | "reset"
  /** Sends the headers and half of the body, then closes. */
  | "half"
  /** Sends a whole body that is no completion. */
  | "rubbish"
  /** Never answers. */
  | "silence";

export interface OpenaiServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly ChatRequest[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Most requests that were being answered at once. */
  readonly concurrent: () => number;
}

/** A server with OpenAI's chat interface that follows a script, misbehaviour included. The n-th request (from 0) gets the n-th reply. */
export async function startOpenaiServer(script: (request: ChatRequest, nth: number) => Reply): Promise<OpenaiServer> {
  const requests: ChatRequest[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let running = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    running += 1;
    most = Math.max(most, running);
    response.on("close", () => (running -= 1));
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as ChatRequest;
    const nth = requests.push(body) - 1;
    headers.push(request.headers);
    await send(response, body, script(body, nth), nth);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    headers,
    concurrent: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(response: ServerResponse, request: ChatRequest, reply: Reply, nth: number): Promise<void> {
  if (reply === "silence") return;
  if (reply === "reset") {
    response.socket?.destroy();
    return;
  }
  const json = { "content-type": "application/json" };
  if (reply === "half") {
    response.writeHead(200, { ...json, "content-length": "1000" });
    response.write('{"id": "x", "choices": [{"mess', () => response.socket?.destroy());
    return;
  }
  if (reply === "rubbish") {
    response.writeHead(200, json).end('{"hello": "world"}');
    return;
  }
  if ("status" in reply) {
    const error = { message: reply.message ?? "no", code: reply.code ?? null };
    response.writeHead(reply.status, { ...json, ...reply.headers }).end(JSON.stringify({ error }));
    return;
  }
  if ("delayMs" in reply && reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
  response.writeHead(200, json).end(JSON.stringify(completion(request, reply, nth)));
}

function completion(request: ChatRequest, reply: Exclude<Reply, string | { status: number }>, nth: number) {
  const choice =
    "calls" in reply
      ? {
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: reply.calls.map(({ name, arguments: given }, i) => ({
              id: `call-${nth}-${i}`,
              type: "function",
              function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
            })),
          },
        }
      : "refusal" in reply
        ? { finish_reason: "stop", message: { role: "assistant", content: null, refusal: reply.refusal } }
        : { finish_reason: reply.finish ?? "stop", message: { role: "assistant", content: reply.text } };
  return {
    id: `completion-${nth}`,
    object: "chat.completion",
    model: request.model,
    choices: [{ index: 0, ...choice }],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 110,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  };
}
