import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually, finished } from "../support/api.ts";
import { createScopedKey } from "../support/keys.ts";
import type { PathIds } from "../support/sample-calls.ts";
import { freshBank, owner } from "./service.ts";

/**
 * A bank with one of everything, all of it carrying the marker, and nothing under way in it. Answers the ids by the names of
 * path parameters, and beside them `api_key` (of the key that belongs to the bank) and `refresh_operation_id`.
 */
export async function fillMarkedBank(marker: string): Promise<PathIds> {
  const receiver = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { bankId, path } = freshBank(marker);
  const made = async (method: string, below: string, body?: unknown) => {
    const answer = await owner(method, `${path}${below}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${below}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await made("PUT", "", { name: marker, mission: marker });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${marker}`;
  const webhook = await made("POST", "/webhooks", { url, event_types: [], secret: marker });
  const content = `${marker} Smith met Clara Jones in Lisbon about the ${marker} contract.`;
  await made("POST", "/memories", { items: [{ content, document_id: marker, tags: [marker] }] });
  const queued = await made("POST", "/memories", { items: [{ content: `${marker} later.` }], async: true });
  await finished(owner, bankId, queued.operation_id);
  const directive = await made("POST", "/directives", { name: marker, content: marker });
  const model = await made("POST", "/mental-models", { id: marker.toLowerCase(), name: marker, source_query: marker });
  await finished(owner, bankId, model.operation_id);
  await made("POST", `/webhooks/${webhook.id}/test`);
  const delivery = await eventually("the test event is delivered", async () => {
    const [latest] = (await made("GET", `/webhooks/${webhook.id}/deliveries`)).items;
    return latest?.status === "completed" && latest;
  });
  await eventually("nothing is under way", async () => {
    const { operations } = (await owner("GET", `${path}/operations?limit=100`)).body;
    const { body: stats } = await owner("GET", `${path}/stats`);
    const isBusy = operations.some(({ status }: { status: string }) => status === "pending" || status === "processing");
    return !isBusy && stats.pending_consolidation === 0;
  });
  receiver.close();
  const key = await createScopedKey(owner, [bankId]);
  return {
    bank_id: bankId,
    document_id: marker,
    memory_id: (await made("GET", "/memories/list?type=world")).items[0].id,
    chunk_id: (await made("GET", `/documents/${marker}/chunks`)).items[0].chunk_id,
    entity_id: (await made("GET", "/entities")).items[0].id,
    operation_id: queued.operation_id,
    refresh_operation_id: model.operation_id,
    directive_id: directive.id,
    mental_model_id: marker.toLowerCase(),
    webhook_id: webhook.id,
    delivery_id: delivery.id,
    key_id: key.id,
    api_key: key.apiKey,
  };
}

/** Ids of the same forms of which nobody has ever heard. */
export function strangeIds(known: PathIds): PathIds {
  const forms = Object.entries(known).map(([name, id]) => [
    name,
    id.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, () => crypto.randomUUID()),
  ]);
  const text = `quillstrange${crypto.randomUUID().slice(0, 8)}`;
  return {
    ...Object.fromEntries(forms),
    document_id: `Doc${text}`,
    mental_model_id: text,
    bank_id: `${text}-${crypto.randomUUID()}`,
  };
}
