import { createHash } from "node:crypto";
import { AppError, isAppError } from "@memory-bank/errors";
import type { Claim, NewJob } from "@memory-bank/jobs";
import { countTokens, type Embedder, type LanguageModel, type TokenUsage } from "@memory-bank/models";
import { consolidationJob } from "../../consolidation-job.ts";
import { memoryRetained } from "../../events.ts";
import type { KeyedLock } from "../../keyed-lock.ts";
import type { MemoryStore, RetainCommit } from "../../memory-store.ts";
import type { VectorHit, VectorIndex } from "../../vector-index.ts";
import { familyOf } from "../fact.ts";
import { addUsage, noUsage } from "../token-usage.ts";
import type { BankRef, NewChunk, NewDocument, ObservationScopes } from "../unit.ts";
import { eventUsOf } from "../unit.ts";
import { appendText } from "./append-text.ts";
import { extractItem } from "./extract-item.ts";
import { type Dated, semanticLinksMax, temporalLinksMax, temporalWindowUs } from "./links.ts";
import { type PreparedFact, planRetain, type Surroundings } from "./plan-retain.ts";
import { type RetainSettings, retainSettings } from "./retain-settings.ts";

/** One text to remember, with its members resolved: the instant is chosen, tags are clean. */
export interface RetainItem {
  readonly content: string;
  readonly context: string;
  readonly documentId: string | undefined;
  /** Undefined: the item has no time at all. */
  readonly timestampUs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly entities: readonly { readonly name: string; readonly kind: string }[];
  readonly exactEntities: boolean;
  readonly observationScopes: ObservationScopes | undefined;
  readonly strategy: string | undefined;
  readonly append: boolean;
}

export interface RetainDeps {
  readonly store: MemoryStore;
  readonly vectors: VectorIndex;
  readonly embedder: Embedder;
  readonly languageModel: LanguageModel;
  readonly lock: KeyedLock;
  readonly nowUs: () => number;
  readonly newId: () => string;
}

/** One part of a retain call that becomes visible as one commit. Its items name different documents. */
export interface RetainBatch {
  readonly bank: BankRef;
  /** The bank's resolved configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly items: readonly RetainItem[];
  /** Place of the first item in the call, so that neighbours are known across batches. */
  readonly firstItemIndex: number;
  /** Whose memory it is, where the bank has a name of its own. */
  readonly narrator: string | undefined;
  /** The retain call: its items are neighbours of one another. */
  readonly callId: string;
  readonly operationId: string;
  readonly signal: AbortSignal;
  /** The job that the commit finishes. */
  readonly claim?: Claim;
  readonly progress?: (stage: string, processed: number, total: number) => Promise<void>;
}

export interface RetainedBatch {
  readonly documentIds: readonly string[];
  readonly unitCount: number;
  /** Tokens that reading the items has cost. */
  readonly usage: TokenUsage;
}

/** Facts per embedding call while a batch is read; progress is written after each. */
const factsPerEmbedding = 64;
/** Another writer may move the bank between plan and commit this often before the call gives up. */
const planAttemptsMax = 8;
/** Nearest vectors looked at per fact: links need 50, duplicates may hide behind units of other tags. */
const similarMax = 2 * semanticLinksMax;
const msPerFact = 10;
const minuteUs = 60_000_000;

/** chunk -> extract -> embed -> deduplicate -> resolve entities -> link -> commit. Nothing is visible before the commit. */
export async function retainBatch(deps: RetainDeps, batch: RetainBatch): Promise<RetainedBatch> {
  let prepared = await prepare(deps, batch);
  // One plan at a time per bank: what it reads must still hold when it commits.
  return deps.lock.run(batch.bank.bankUid, async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await planAndCommit(deps, batch, prepared);
      } catch (error) {
        if (!isAppError(error, "DOCUMENT_MOVED") || attempt === planAttemptsMax) throw error;
        // Read again with the lock held, where only another process can move the document once more.
        prepared = await prepare(deps, batch);
      }
    }
  });
}

interface Prepared {
  readonly read: readonly ReadItem[];
  readonly facts: readonly PreparedFact[];
}

async function prepare(deps: RetainDeps, batch: RetainBatch): Promise<Prepared> {
  const read = await readItems(deps, batch);
  return { read, facts: await embedFacts(deps, batch, read) };
}

type UnembeddedFact = Omit<PreparedFact, "vector">;

interface ReadItem {
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

/** Refuses to append to a text that another writer has changed since it was read: theirs would be lost. */
async function requireUnmoved(deps: RetainDeps, { bank }: RetainBatch, read: readonly ReadItem[]): Promise<void> {
  for (const { item, document, appendedToHash } of read) {
    if (!isAppend(item)) continue;
    const current = await deps.store.findDocument(bank.bankUid, document.documentId);
    if (current?.contentHash === appendedToHash) continue;
    throw new AppError("conflict", "DOCUMENT_MOVED", `Document '${document.documentId}' keeps changing`);
  }
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

function usageOf(read: readonly ReadItem[]): TokenUsage {
  return read.reduce((sum, item) => addUsage(sum, item.usage), noUsage);
}

/** Tokens as the public record of an operation names them. */
function tokenCounts({ input, output, cached, reasoning }: TokenUsage) {
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    cached_tokens: cached,
    thoughts_tokens: reasoning,
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

async function planAndCommit(deps: RetainDeps, batch: RetainBatch, { read, facts }: Prepared): Promise<RetainedBatch> {
  const { bankUid } = batch.bank;
  const ids = facts.map((fact) => fact.unitId);
  // Vectors go first: a unit is never visible without its vector. Those of a batch that fails are taken back.
  await deps.vectors.upsert(
    bankUid,
    facts.map(({ unitId, vector, fact }) => ({ unitId, vector, family: familyOf(fact.type) })),
  );
  try {
    for (let attempt = 1; ; attempt++) {
      batch.signal.throwIfAborted();
      const { commit, skipped } = await plan(deps, batch, read, facts);
      try {
        const committed = await deps.store.commitRetain(commit);
        await deps.vectors.remove(bankUid, [...skipped, ...committed.removedUnitIds]);
        return {
          documentIds: commit.documents.map((document) => document.documentId),
          unitCount: commit.units.length,
          usage: usageOf(read),
        };
      } catch (error) {
        if (!isAppError(error, "SEQ_MOVED") || attempt === planAttemptsMax) throw error;
      }
    }
  } catch (error) {
    await deps.vectors.remove(bankUid, ids);
    throw error;
  }
}

async function plan(
  deps: RetainDeps,
  batch: RetainBatch,
  read: readonly ReadItem[],
  facts: readonly PreparedFact[],
): Promise<{ commit: RetainCommit; skipped: readonly string[] }> {
  const nowUs = deps.nowUs();
  const expectedSeq = await deps.store.seq(batch.bank.bankUid);
  await requireUnmoved(deps, batch, read);
  const settings = retainSettings(batch.config, undefined);
  const around = await lookAround(deps, batch, facts, new Set(read.map((item) => item.document.documentId)), settings);
  const thresholds = { duplicate: settings.duplicateThreshold, semanticLink: settings.semanticLinkMin };
  const planned = await planRetain(facts, around, thresholds, { newId: deps.newId, nowUs });
  const unitsOf = new Map<string, number>();
  for (const { documentId } of planned.units) unitsOf.set(documentId!, (unitsOf.get(documentId!) ?? 0) + 1);
  const { tenantId, bankUid, bankId } = batch.bank;
  const retained = memoryRetained.create({
    id: deps.newId(),
    occurredAtUs: nowUs,
    payload: {
      ...{ tenantId, bankUid, bankId, commitSeq: expectedSeq + 1, operationId: batch.operationId },
      items: read.map(({ item, document }) => ({
        documentId: item.documentId ?? null,
        unitCount: unitsOf.get(document.documentId) ?? 0,
        tags: [...item.tags],
      })),
    },
  });
  const jobs: NewJob[] =
    settings.isConsolidatedAutomatically && planned.units.length > 0 ? [consolidationJob(batch.bank, deps.newId(), nowUs)] : [];
  const result = {
    items_count: read.length,
    document_ids: read.map((item) => item.document.documentId),
    unit_ids_count: planned.units.length,
    extraction_errors_count: 0,
    ...tokenCounts(usageOf(read)),
  };
  return {
    skipped: planned.skippedUnitIds,
    commit: {
      bank: batch.bank,
      expectedSeq,
      nowUs,
      documents: read.map((item) => item.document),
      chunks: read.flatMap((item) => item.chunks),
      ...planned,
      events: [retained],
      jobs,
      ...(batch.claim ? { completes: { claim: batch.claim, result } } : {}),
    },
  };
}

async function lookAround(
  deps: RetainDeps,
  { bank: { bankUid } }: RetainBatch,
  facts: readonly PreparedFact[],
  documentIds: ReadonlySet<string>,
  settings: RetainSettings,
): Promise<Surroundings> {
  const { store, vectors } = deps;
  const minScore = Math.min(settings.semanticLinkMin, settings.duplicateThreshold);
  const similar = new Map<string, VectorHit[]>();
  const nearInTime = new Map<string, readonly Dated[]>();
  const nearByMinute = new Map<string, Promise<readonly Dated[]>>();
  for (const [index, { unitId, vector, fact, mentionedAtUs }] of facts.entries()) {
    const family = familyOf(fact.type);
    similar.set(unitId, await vectors.search(bankUid, vector, { limit: similarMax, minScore, families: [family] }));
    const eventUs = eventUsOf({ occurredStartUs: fact.occurredStartUs, mentionedAtUs });
    if (eventUs !== undefined) {
      // Facts of one minute have the same neighbours to within a rounding of their weights.
      const minute = `${family} ${Math.floor(eventUs / minuteUs)}`;
      const near = nearByMinute.get(minute) ?? store.nearestInTime(bankUid, family, eventUs, temporalWindowUs, temporalLinksMax);
      nearByMinute.set(minute, near);
      nearInTime.set(unitId, await near);
    }
    if (index % 64 === 63) await yieldToEventLoop();
  }
  const own = new Set(facts.map((fact) => fact.unitId));
  const twins = new Set<string>();
  for (const hits of similar.values()) {
    for (const { unitId, score } of hits) if (score > settings.duplicateThreshold && !own.has(unitId)) twins.add(unitId);
  }
  const summaries = await store.summaries(bankUid, [...twins]);
  return {
    entities: await store.entityNames(bankUid),
    cooccurring: (entityId) => store.cooccurringIds(bankUid, entityId),
    similar: (unitId) => similar.get(unitId) ?? [],
    summaries: new Map(summaries.map((summary) => [summary.unitId, summary])),
    nearInTime: (unitId) => nearInTime.get(unitId) ?? [],
    replacedDocumentIds: documentIds,
  };
}

/** Long work gives others a turn; `setImmediate` lets timers and sockets run first. */
function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve) => setImmediate(resolve));
}
