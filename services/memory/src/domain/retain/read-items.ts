import { createHash } from "node:crypto";
import { AppError } from "@memory-bank/errors";
import { countTokens, type TokenUsage } from "@memory-bank/models";
import type { NewChunk, NewDocument } from "../unit.ts";
import { appendText } from "./append-text.ts";
import { extractItem } from "./extract-item.ts";
import type { PreparedFact } from "./plan-retain.ts";
import { type RetainBatch, type RetainDeps, type RetainItem, yieldToEventLoop } from "./retain-batch.ts";
import { type RetainSettings, retainSettings } from "./retain-settings.ts";

/** A batch as it was read: everything about its facts that needs no look at the bank's other memories. */
export interface Prepared {
  readonly read: readonly ReadItem[];
  readonly facts: readonly PreparedFact[];
}

/** chunk -> extract -> embed: the slow part, outside any lock and any transaction. */
export async function prepare(deps: RetainDeps, batch: RetainBatch): Promise<Prepared> {
  const read = await readItems(deps, batch);
  return { read, facts: await embedFacts(deps, batch, read) };
}

type UnembeddedFact = Omit<PreparedFact, "vector">;

export interface ReadItem {
  readonly item: RetainItem;
  readonly usage: TokenUsage;
  readonly document: NewDocument;
  /** Hash of the text that this item was appended to; undefined when there was none, or when it replaces. */
  readonly appendedToHash: string | undefined;
  readonly chunks: readonly NewChunk[];
  readonly facts: readonly UnembeddedFact[];
}

async function readItems(deps: RetainDeps, batch: RetainBatch): Promise<ReadItem[]> {
  const read: ReadItem[] = [];
  const atOnce = deps.languageModel.kind === "openai" ? itemsReadAtOnce : 1;
  for (let from = 0; from < batch.items.length; from += atOnce) {
    const part = batch.items.slice(from, from + atOnce);
    read.push(...(await Promise.all(part.map((item, i) => readItem(deps, batch, item, batch.firstItemIndex + from + i)))));
    if (from % 16 === 0) await yieldToEventLoop(batch.signal);
  }
  return read;
}

/** Facts per embedding call while a batch is read; progress is written after each. */
const factsPerEmbedding = 64;
const msPerFact = 10;
/** A model answers in seconds, so several items wait for it together; its own limit of calls holds across batches. */
const itemsReadAtOnce = 8;
/** Passages of one item get consecutive numbers; items are this far apart. No item has as many passages (16 MiB of text). */
const passagesPerItem = 10_000_000;

async function readItem(deps: RetainDeps, batch: RetainBatch, item: RetainItem, itemIndex: number): Promise<ReadItem> {
  const settings = retainSettings(batch.config, item.strategy);
  const documentId = item.documentId ?? deps.newId();
  const base = isAppend(item) ? await appendableDocument(deps, batch, documentId) : undefined;
  const content = base === undefined ? item.content : appendText(base.text, item.content);
  const { chunks, facts, usage } = await extractItem(
    { ...item, content, narrator: batch.narrator },
    { settings, languageModel: deps.languageModel, signal: batch.signal },
  );
  const newChunks = chunks.map(
    (chunk): NewChunk => ({ chunkId: deps.newId(), documentId, chunkIndex: chunk.index, text: chunk.text }),
  );
  const unitIds = facts.map(() => deps.newId());
  return {
    item,
    usage,
    document: newDocument(item, documentId, content, settings),
    appendedToHash: base?.hash,
    chunks: newChunks,
    facts: facts.map((fact, index) => ({
      unitId: unitIds[index]!,
      fact: { ...fact, entities: [...fact.entities, ...item.entities] },
      tokenCount: countTokens(fact.text),
      documentId,
      chunkId: newChunks[fact.chunkIndex]!.chunkId,
      sessionId: item.documentId === undefined ? batch.callId : `document ${documentId}`,
      passage: itemIndex * passagesPerItem + fact.passageIndex,
      // Facts of one document keep their order when they are sorted by time.
      mentionedAtUs: item.timestampUs === undefined ? undefined : item.timestampUs + index * msPerFact * 1000,
      context: item.context,
      tags: item.tags,
      metadata: item.metadata,
      observationScopes: item.observationScopes,
      exactEntities: item.exactEntities,
      causes: fact.causedBy.map((cause) => unitIds[cause]!),
    })),
  };
}

const isAppend = (item: RetainItem): boolean => item.append && item.documentId !== undefined;

async function appendableDocument(deps: RetainDeps, { bank }: RetainBatch, documentId: string) {
  const existing = await deps.store.findDocument(bank.bankUid, documentId);
  if (!existing) return undefined;
  if (existing.originalText === undefined) {
    throw new AppError(
      "invalid_argument",
      "DOCUMENT_TEXT_NOT_KEPT",
      `Document '${documentId}' cannot be appended to: its text is not kept`,
    );
  }
  return { text: existing.originalText, hash: existing.contentHash };
}

/** Stored text of a document, after appending too (contract 1.10). */
const documentBytesMax = 8 * 1024 * 1024;

function newDocument(item: RetainItem, documentId: string, content: string, settings: RetainSettings): NewDocument {
  if (Buffer.byteLength(content) > documentBytesMax) {
    throw new AppError(
      "invalid_argument",
      "PAYLOAD_TOO_LARGE",
      `Document '${documentId}' is larger than ${documentBytesMax} bytes`,
    );
  }
  return {
    documentId,
    originalText: settings.isTextKept ? content : undefined,
    textLength: [...content].length,
    contentHash: createHash("sha256").update(content).digest("hex"),
    tags: item.tags,
    metadata: item.metadata,
    retainParams: {
      context: item.context,
      timestamp_us: item.timestampUs ?? null,
      mode: settings.mode,
      ...(item.strategy === undefined ? {} : { strategy: item.strategy }),
      ...(item.entities.length === 0 ? {} : { entities: item.entities }),
      ...(item.exactEntities ? { exact_entities: true } : {}),
      ...(item.observationScopes === undefined ? {} : { observation_scopes: item.observationScopes }),
    },
  };
}

async function embedFacts(deps: RetainDeps, batch: RetainBatch, read: readonly ReadItem[]): Promise<PreparedFact[]> {
  const facts = read.flatMap((item) => item.facts);
  const prepared: PreparedFact[] = [];
  for (let from = 0; from < facts.length; from += factsPerEmbedding) {
    batch.signal.throwIfAborted();
    const part = facts.slice(from, from + factsPerEmbedding);
    const vectors = await deps.embedder.embed(
      part.map((fact) => fact.fact.embeddedText),
      { signal: batch.signal, purpose: "document" },
    );
    for (const [i, fact] of part.entries()) prepared.push({ ...fact, vector: vectors[i]! });
    await batch.progress?.("embedding", prepared.length, facts.length);
  }
  return prepared;
}

/** Refuses to append to a text that another writer has changed since it was read: theirs would be lost. */
export async function requireUnmoved(deps: RetainDeps, { bank }: RetainBatch, read: readonly ReadItem[]): Promise<void> {
  for (const { item, document, appendedToHash } of read) {
    if (!isAppend(item)) continue;
    const current = await deps.store.findDocument(bank.bankUid, document.documentId);
    if (current?.contentHash === appendedToHash) continue;
    throw new AppError("conflict", "DOCUMENT_MOVED", `Document '${document.documentId}' keeps changing`);
  }
}
