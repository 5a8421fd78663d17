import { type OpenApiDocument, operationsOf } from "./openapi.ts";

/** What stands for the parameters of paths, by their names. */
export type PathIds = Readonly<Record<string, string>>;

export interface SampleCall {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** False for the few operations that need no key. */
  readonly needsKey: boolean;
  readonly isOfBank: boolean;
}

const retained = { items: [{ content: "Ines keeps bees on the roof." }] };

/** Bodies that their operations accept; an operation that asks for a body and is not here fails the tests that need one. */
const bodies: Readonly<Record<string, unknown>> = {
  putBank: { mission: "sampled" },
  patchBank: { mission: "sampled" },
  putBankProfile: { disposition: { skepticism: 4, literalism: 3, empathy: 2 } },
  addBankBackground: { content: "sampled" },
  patchBankConfig: { updates: { retain_chunk_size: 1_000 } },
  retainMemories: retained,
  recallMemories: { query: "Who keeps bees?" },
  updateMemory: { context: "sampled" },
  consolidate: {},
  updateDocument: { tags: ["sampled"] },
  reflect: { query: "Who keeps bees?" },
  createMentalModel: { id: "sampled", name: "Sampled", source_query: "Who keeps bees?" },
  updateMentalModel: { name: "Sampled anew" },
  createDirective: { name: "Sampled", content: "Answer briefly." },
  updateDirective: { content: "Answer at length." },
  createWebhook: { url: "http://127.0.0.1:9/sampled" },
  updateWebhook: { event_types: ["retain.completed"] },
  redeliverFailedWebhookDeliveries: { since: "2026-01-01T00:00:00Z" },
  createApiKey: { name: "sampled" },
  createScopedApiKey: { name: "sampled", allowed_bank_ids: ["sampled"], expires_in_days: 1 },
};

/** One call of every operation that a document describes, reads first and the deletion of the bank last. */
export function sampleCalls(document: OpenApiDocument, ids: PathIds): readonly SampleCall[] {
  const calls = operationsOf(document).map(({ method, url, operation }) => {
    const { operationId, requestBody } = operation;
    if (requestBody?.required && !(operationId in bodies)) throw new Error(`no sample of a body for ${operationId}`);
    const path = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const id = ids[name];
      if (id === undefined) throw new Error(`nothing stands for {${name}} of ${url}`);
      return encodeURIComponent(id);
    });
    const needsKey = operation.security?.length !== 0;
    return { operationId, method, path, body: bodies[operationId], needsKey, isOfBank: url.includes("{bank_id}") };
  });
  return calls.sort((a, b) => rank(a) - rank(b));
}

const methodRanks = ["GET", "PUT", "PATCH", "POST", "DELETE"];

/** A resource is deleted after what is below it, and the bank after everything. */
function rank({ method, path, operationId }: SampleCall): number {
  const order = methodRanks.indexOf(method) * 100;
  return method === "DELETE" ? order + (operationId === "deleteBank" ? 99 : 50 - path.split("/").length) : order;
}
