import type { ContractCheck } from "./openapi.ts";

/** An answer of the REST API. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
export interface Answer<T = any> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Calls the REST API with one key. Bodies are sent as JSON unless they are strings already. */
export interface Api {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  <T = any>(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer<T>>;
  readonly url: string;
  readonly key: string;
}

export interface ApiOptions {
  readonly url: string;
  /** None is sent when empty. */
  readonly key: string;
  /** Judges every answer before the test sees it. */
  readonly contract?: Promise<ContractCheck>;
}

export function createApi({ url, key, contract }: ApiOptions): Api {
  const call = async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(key === "" ? {} : { authorization: `Bearer ${key}` }), "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    (await contract)?.({ method, path, status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, body: parsed(response.headers, text) };
  };
  return Object.assign(call as Api, { url, key });
}

function parsed(headers: Headers, text: string): unknown {
  if (text === "") return null;
  return headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

/** Polls until `read` answers something, or fails after `withinMs` with what it last saw. */
export async function eventually<T>(
  what: string,
  read: () => Promise<T | undefined | null | false>,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits for a terminal status of an operation and answers the operation. */
export function finished(api: Api, bankId: string, operationId: string, withinMs?: number) {
  return eventually(
    `operation ${operationId} ends`,
    async () => {
      const { body } = await api("GET", `/v1/default/banks/${encodeURIComponent(bankId)}/operations/${operationId}`);
      return ["completed", "failed", "cancelled"].includes(body.status) && body;
    },
    withinMs,
  );
}
