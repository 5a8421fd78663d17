import { isAppError } from "@memory-bank/errors";
import type { NewJob } from "@memory-bank/jobs";
import type { TokenUsage } from "@memory-bank/models";
import { consolidationJob } from "../../consolidation-job.ts";
import { memoryRetained } from "../../events.ts";
import type { RetainCommit } from "../../memory-store.ts";
import { familyOf } from "../fact.ts";
import { addUsage, noUsage } from "../token-usage.ts";
import { lookAround } from "./look-around.ts";
import { type PreparedFact, planRetain } from "./plan-retain.ts";
import { type Prepared, prepare, type ReadItem, requireUnmoved } from "./read-items.ts";
import type { RetainBatch, RetainDeps, RetainedBatch } from "./retain-batch.ts";
import { retainSettings } from "./retain-settings.ts";

/** Another writer may move the bank between plan and commit this often before the call gives up. */
const planAttemptsMax = 8;

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
