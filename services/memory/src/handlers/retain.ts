import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { Job, JobRun, JsonObject, NewJob } from "@memory-bank/jobs";
import { countTokens, type TokenUsage } from "@memory-bank/models";
import type { MemoryServiceService, RetainRequest } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { retainItemFromProto, usageToProto } from "../convert.ts";
import { retainBatch } from "../domain/retain/retain.ts";
import type { RetainItem } from "../domain/retain/retain-batch.ts";
import { addUsage, noUsage } from "../domain/token-usage.ts";
import { ensureBank, type MemoryDeps, narratorOf, type ResolvedBank } from "../memory-deps.ts";

type Retain = Pick<Rpc<typeof MemoryServiceService>, "retain">;

/** Content tokens per batch: one commit, one child operation (contract 12.8). A longer single item stays whole. */
const batchTokensMax = 10_000;
/** A synchronous call may take this long (contract 1.10). */
const wallLimitMs = 3_600_000;

export const retainHandlers = (deps: MemoryDeps): Retain => ({
  async retain(ctx, request) {
    const bank = await ensureBank(deps, ctx, request.bankId);
    const nowUs = deps.nowUs();
    const items = request.items.map((item) => retainItemFromProto(item, nowUs));
    if (request.async) return { itemsCount: items.length, operationIds: await enqueue(deps, bank, request, items, nowUs) };
    const usage = await retainNow(deps, ctx, bank, items);
    return { itemsCount: items.length, operationIds: [], usage: usageToProto(usage) };
  },
});

async function retainNow(
  deps: MemoryDeps,
  ctx: CallContext,
  bank: ResolvedBank,
  items: readonly RetainItem[],
): Promise<TokenUsage> {
  const callId = deps.newId();
  const wallLimit = AbortSignal.timeout(wallLimitMs);
  const signal = AbortSignal.any([ctx.signal, wallLimit]);
  const call = { bank, config: bank.config, narrator: bank.narrator, callId, operationId: callId, signal };
  let firstItemIndex = 0;
  let usage = noUsage;
  try {
    for (const part of batches(items)) {
      const retained = await retainBatch(deps, { ...call, items: part, firstItemIndex });
      usage = addUsage(usage, retained.usage);
      firstItemIndex += part.length;
    }
    return usage;
  } catch (error) {
    if (!wallLimit.aborted) throw error;
    const text = `Retain ran past its limit of ${wallLimitMs / 1000} seconds; ${firstItemIndex} items are stored`;
    throw new AppError("deadline_exceeded", "RETAIN_WALL_LIMIT", text);
  } finally {
    if (firstItemIndex > 0) deps.wake();
  }
}

/** Items packed in order up to the token bound; a document id occurs once per batch, so that the last of two wins. */
export function batches(items: readonly RetainItem[]): RetainItem[][] {
  const packed: RetainItem[][] = [];
  let open: RetainItem[] = [];
  let tokens = 0;
  let documentIds = new Set<string>();
  for (const item of items) {
    const size = countTokens(item.content);
    const isRepeated = item.documentId !== undefined && documentIds.has(item.documentId);
    if (open.length > 0 && (isRepeated || tokens + size > batchTokensMax)) {
      packed.push(open);
      [open, tokens, documentIds] = [[], 0, new Set()];
    }
    open.push(item);
    tokens += size;
    if (item.documentId !== undefined) documentIds.add(item.documentId);
  }
  if (open.length > 0) packed.push(open);
  return packed;
}

/** Stores the call as a parent operation with one child per batch; one parent per strategy. Answers the parents' ids. */
async function enqueue(
  deps: MemoryDeps,
  bank: ResolvedBank,
  request: RetainRequest,
  items: readonly RetainItem[],
  nowUs: number,
): Promise<string[]> {
  requireDistinctDocuments(items);
  const strategies = new Map<string, RetainItem[]>();
  for (const item of items) strategies.set(item.strategy ?? "", [...(strategies.get(item.strategy ?? "") ?? []), item]);
  if (strategies.size === 0) strategies.set("", []);
  if (request.operationId !== undefined) {
    if (strategies.size > 1) {
      throw new AppError(
        "invalid_argument",
        "OPERATION_ID_AMBIGUOUS",
        "operation_id cannot be used when items name more than one strategy",
      );
    }
    const replayed = await findReplay(deps, bank, request.operationId);
    if (replayed) return [replayed];
  }
  const groups = [...strategies.values()].map((group) => jobsFor(deps, bank, group, request.operationId ?? deps.newId(), nowUs));
  try {
    await deps.jobs.enqueue(groups.flat());
  } catch (error) {
    // Two calls with the same operation id at the same moment: the second replays the first.
    const replayed = request.operationId === undefined ? undefined : await findReplay(deps, bank, request.operationId);
    if (!replayed) throw error;
    return [replayed];
  }
  deps.wake();
  return groups.map((jobs) => jobs[0]!.id);
}

async function findReplay(deps: MemoryDeps, bank: ResolvedBank, operationId: string): Promise<string | undefined> {
  const existing = await deps.jobs.find(operationId);
  if (!existing) return undefined;
  if (existing.groupKey === bank.bankUid && existing.kind === "batch_retain") return existing.id;
  throw new AppError(
    "already_exists",
    "OPERATION_ID_TAKEN",
    `operation_id '${operationId}' is already used by another operation`,
  );
}

function requireDistinctDocuments(items: readonly RetainItem[]): void {
  const seen = new Set<string>();
  for (const { documentId } of items) {
    if (documentId === undefined) continue;
    if (seen.has(documentId)) {
      throw new AppError(
        "invalid_argument",
        "DUPLICATE_DOCUMENT_ID",
        `Duplicate document_id '${documentId}' in an asynchronous retain`,
      );
    }
    seen.add(documentId);
  }
}

function jobsFor(deps: MemoryDeps, bank: ResolvedBank, items: readonly RetainItem[], parentId: string, nowUs: number): NewJob[] {
  const common = { groupKey: bank.bankUid, tenantKey: bank.tenantId, createdAtUs: nowUs };
  const parts = items.length === 0 ? [[]] : batches(items);
  const parent: NewJob = {
    ...common,
    id: parentId,
    kind: "batch_retain",
    isParent: true,
    payload: { bank_id: bank.bankId },
    details: { items_count: items.length, num_sub_batches: parts.length, is_parent: true },
  };
  let firstItemIndex = 0;
  const children = parts.map((part, index): NewJob => {
    const isKeyed = part.some((item) => item.documentId !== undefined);
    const child: NewJob = {
      ...common,
      id: deps.newId(),
      kind: "retain",
      parentId,
      index,
      total: part.length,
      // Children that may touch the same document run one after another.
      ...(isKeyed ? { serialKey: `documents ${bank.bankUid}` } : {}),
      payload: {
        bank_id: bank.bankId,
        call_id: parentId,
        first_item_index: firstItemIndex,
        items: part as unknown as JsonObject[],
      },
      details: {
        items_count: part.length,
        ...(part.length === 1 && part[0]!.documentId !== undefined ? { document_id: part[0]!.documentId } : {}),
      },
    };
    firstItemIndex += part.length;
    return child;
  });
  return [parent, ...children];
}

interface RetainPayload {
  readonly bank_id: string;
  readonly call_id: string;
  readonly first_item_index: number;
  readonly items: readonly RetainItem[];
}

/** Runs one child of an asynchronous retain. Its commit and its completion are one write, so it happens once whatever dies when. */
export async function runRetainJob(deps: MemoryDeps, ctx: CallContext, job: Job, run: JobRun): Promise<"committed" | JsonObject> {
  const payload = job.payload as unknown as RetainPayload;
  if (payload.items.length === 0)
    return { items_count: 0, document_ids: [], unit_ids_count: 0, extraction_errors_count: 0, total_tokens: 0 };
  const { bank, config } = await deps.bank.resolveBank(ctx, {
    tenantId: job.tenantKey,
    bankId: "",
    bankUid: job.groupKey,
    create: false,
  });
  if (!bank) throw new AppError("cancelled", "BANK_FENCED", `Bank '${payload.bank_id}' was deleted`);
  await retainBatch(deps, {
    bank: { tenantId: job.tenantKey, bankId: bank.bankId, bankUid: job.groupKey },
    config: config ?? {},
    narrator: narratorOf(bank),
    items: payload.items,
    firstItemIndex: payload.first_item_index,
    callId: payload.call_id,
    operationId: payload.call_id,
    signal: run.signal,
    claim: run.claim,
    progress: (stage, processed, total) =>
      run.progress({
        stage,
        processed: Math.floor((processed / Math.max(1, total)) * payload.items.length),
        total: payload.items.length,
      }),
  });
  deps.wake();
  return "committed";
}
