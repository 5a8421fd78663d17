import { digest, isObject, type JsonObject } from "@memory-bank/audit";

/** What is left of a body in the log when the text of memories must not live on in it. */
interface KeptBodies {
  readonly request?: (body: JsonObject) => unknown;
  readonly response?: (body: JsonObject) => unknown;
}

const keptByAction: Readonly<Record<string, KeptBodies>> = {
  retain: { request: withDigestedItems },
  recall: { response: ({ results }) => ({ ids: idsOf(results) }) },
  reflect: { response: ({ based_on }) => ({ ids: isObject(based_on) ? Object.values(based_on).flatMap(idsOf) : [] }) },
  update_memory: { request: digested("text"), response: digested("text") },
  update_mental_model: { response: digested("content", "reflect_response") },
};

export function keptRequest(action: string, body: unknown): unknown {
  return isObject(body) ? (keptByAction[action]?.request?.(body) ?? body) : body;
}

export function keptResponse(action: string, body: unknown): unknown {
  return isObject(body) ? (keptByAction[action]?.response?.(body) ?? body) : body;
}

function withDigestedItems(body: JsonObject): unknown {
  const { items } = body;
  if (!Array.isArray(items)) return body;
  const content = digested("content");
  return { ...body, items: items.map((item: unknown) => (isObject(item) ? content(item) : item)) };
}

function digested(...names: readonly string[]): (body: JsonObject) => JsonObject {
  return (body) => {
    const given = names.filter((name) => Object.hasOwn(body, name));
    return { ...body, ...Object.fromEntries(given.map((name) => [name, digest(body[name])])) };
  };
}

function idsOf(list: unknown): unknown[] {
  return Array.isArray(list) ? list.filter(isObject).map(({ id }) => id) : [];
}
