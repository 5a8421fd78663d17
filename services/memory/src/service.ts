import { type CallContext, systemContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import type { DomainEvent, OutboxRelay } from "@memory-bank/events";
import { createJobRunner, type Job, type JobStore } from "@memory-bank/jobs";
import { systemTimers, type TimerHandle } from "@memory-bank/lifecycle";
import type { Embedder, LanguageModel } from "@memory-bank/models";
import type { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryInternalServiceService, MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import { implement, type Rpc, type Service } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import type { Consolidator } from "./domain/consolidate/consolidator.ts";
import { abstainingConsolidator } from "./domain/consolidate/local/abstaining-consolidator.ts";
import { createLocalConsolidator } from "./domain/consolidate/local/local-consolidator.ts";
import { createModelConsolidator } from "./domain/consolidate/model/model-consolidator.ts";
import { createForeground, type Foreground } from "./foreground.ts";
import { consolidationHandlers, retryConsolidation, runConsolidationJob, sweepPending } from "./handlers/consolidation.ts";
import { documentHandlers } from "./handlers/documents.ts";
import { entityHandlers } from "./handlers/entities.ts";
import { internalHandlers } from "./handlers/lifecycle.ts";
import { memoryHandlers } from "./handlers/memories.ts";
import { operationHandlers } from "./handlers/operations.ts";
import { recallHandlers } from "./handlers/recall.ts";
import { retainHandlers, runRetainJob } from "./handlers/retain.ts";
import { statsHandlers } from "./handlers/stats.ts";
import { verifyHandlers } from "./handlers/verify.ts";
import { createJobAudit } from "./job-audit.ts";
import { createKeyedLock } from "./keyed-lock.ts";
import type { MemoryDeps } from "./memory-deps.ts";
import type { MemoryKeeping } from "./memory-keeping.ts";
import type { MemoryStore } from "./memory-store.ts";
import { createRecallIndexes } from "./recall-indexes.ts";
import { REEMBED_KIND, reembedJob, retryReembed, runReembedJob } from "./reembed/reembed-job.ts";
import type { VectorIndex } from "./vector-index.ts";
import { sweepVectors } from "./verify/sweep-vectors.ts";

export interface MemoryServiceDeps {
  readonly store: MemoryStore;
  readonly keeping: MemoryKeeping;
  readonly vectors: VectorIndex;
  readonly jobs: JobStore;
  readonly embedder: Embedder;
  /** Reads and consolidates for banks whose provider is a language model; without one rules do. */
  readonly languageModel?: LanguageModel;
  readonly bank: Pick<Rpc<typeof BankInternalServiceService>, "resolveBank">;
  /** Publishes what commits leave in the store's outbox. */
  readonly relay: Pick<OutboxRelay, "start" | "nudge">;
  /** Puts events into the same outbox that no commit carries. */
  readonly tell: (events: readonly DomainEvent[]) => Promise<void>;
  readonly log: Logger;
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Names this process among those that share the jobs. */
  readonly owner: string;
  /** Bound of all recall indexes together, by their own estimate. */
  readonly recallIndexBytesMax: number;
  /** Retain jobs at once. */
  readonly retainConcurrency: number;
  /** True when no other process works on the same banks: then vectors that a killed process left behind can be told from work in progress. Default: false. */
  readonly isAlone?: boolean;
  /** The audit log keeps the text of memories, also after they are forgotten. Default: it does not. */
  readonly auditKeepsText?: boolean;
}

/** Banks consolidated at once: most of a round by rules is waiting for the store, and of one by a model for the model. */
const consolidationConcurrency = 4;
/** A bank whose run got lost, or whose consolidation was switched on later, waits this long at most (contract 13). */
const sweepIntervalMs = 300_000;
/** Every encoder thread works for one such job already. */
const reembedConcurrency = 1;

/** Retain, recall and everything that is kept of them. */
export function createMemoryService(given: MemoryServiceDeps): Service {
  const { log, nowUs, newId, languageModel = { kind: "local" } } = given;
  const deps: MemoryDeps = {
    ...given,
    languageModel,
    indexes: createRecallIndexes({ store: given.store, bytesMax: given.recallIndexBytesMax }),
    lock: createKeyedLock(),
    wake: () => {
      given.relay.nudge();
      runner.nudge();
    },
  };
  /** A job's calls to peers may take as long as they need; its lease and its signal end it. */
  const jobContext = (signal: AbortSignal) => systemContext(newId(), Number.MAX_SAFE_INTEGER, signal);
  const localConsolidator = createLocalConsolidator();
  const modelConsolidator = languageModel.kind === "openai" ? createModelConsolidator(languageModel) : localConsolidator;
  const foreground = createForeground();
  const consolidatorFor = (provider: "local" | "openai" | "none"): Consolidator => giveWay(foreground, consolidatorOf(provider));
  const consolidatorOf = (provider: "local" | "openai" | "none"): Consolidator =>
    ({ none: abstainingConsolidator, local: localConsolidator, openai: modelConsolidator })[provider];
  const stopped = new AbortController();
  let sweepTimer: TimerHandle;
  const sweepLater = (): void => {
    sweepTimer = systemTimers.setTimeout(async () => {
      try {
        await sweepPending(deps, jobContext(stopped.signal));
      } catch (error) {
        if (!stopped.signal.aborted) log.warn({ err: error }, "pending units were not swept");
      }
      if (!stopped.signal.aborted) sweepLater();
    }, sweepIntervalMs);
  };
  const audit = createJobAudit({ ...given, keepsText: given.auditKeepsText ?? false });
  /** What a job works with: its last commit leaves its entry in the audit log. */
  const recording = (job: Job): MemoryDeps => ({ ...deps, store: audit.recordingStore(deps.store, job) });
  /** Observations are found again by meaning; while that is impossible, a round would write them twice. */
  const requireVectors = async ({ groupKey }: Job): Promise<void> => {
    if (!(await given.store.lacksVectors(groupKey))) return;
    throw new AppError("unavailable", "VECTORS_MISSING", "The bank's vectors are being made anew");
  };
  let swept: Promise<void> = Promise.resolve();
  const runner = createJobRunner({
    store: given.jobs,
    handlers: {
      retain: {
        concurrency: given.retainConcurrency,
        handle: (job, run) => runRetainJob(recording(job), jobContext(run.signal), job, run),
      },
      consolidation: {
        concurrency: consolidationConcurrency,
        retry: retryConsolidation,
        async handle(job, run) {
          await requireVectors(job);
          return runConsolidationJob({ ...recording(job), log, consolidatorFor }, jobContext(run.signal), job, run);
        },
      },
      [REEMBED_KIND]: {
        concurrency: reembedConcurrency,
        retry: retryReembed,
        handle: (job, run) => runReembedJob(deps, jobContext(run.signal), job, run),
      },
    },
    async onEnded(job, end) {
      await audit.onEnded(job, end);
      given.relay.nudge();
    },
    now: nowUs,
    log,
    owner: given.owner,
  });
  return {
    name: "memory",
    implementations: [
      implement(
        MemoryServiceService,
        notFoundOnceDeleted(foreground, {
          ...retainHandlers(deps),
          ...recallHandlers(deps),
          ...memoryHandlers(deps),
          ...entityHandlers(deps),
          ...documentHandlers(deps),
          ...statsHandlers(deps),
          ...operationHandlers(deps),
          ...consolidationHandlers(deps),
        }),
      ),
      implement(MemoryInternalServiceService, {
        ...internalHandlers(deps),
        ...verifyHandlers(deps, { isAlone: given.isAlone ?? false }),
      }),
    ],
    async start() {
      const lacking = await given.keeping.adoptEmbedder(given.embedder.id, (bank) => reembedJob(bank, newId(), nowUs()));
      if (lacking > 0)
        log.warn({ banks: lacking }, "vectors of another embedder are made anew; until then recall goes without meaning");
      given.relay.start();
      runner.start();
      sweepLater();
      if (given.isAlone) {
        swept = sweepVectors({ ...deps, log }, stopped.signal).catch((error: unknown) => {
          if (!stopped.signal.aborted) log.warn({ err: error }, "vectors were not swept");
        });
      }
    },
    async stop() {
      stopped.abort();
      systemTimers.clearTimeout(sweepTimer);
      await swept;
      await runner.stop();
    },
    async ready() {
      await given.store.seq("");
    },
  };
}

/** How long a step of consolidation lets callers go first: under steady load it keeps about a fifth of the time. */
const giveWayMs = 200;

function giveWay(foreground: Foreground, consolidator: Consolidator): Consolidator {
  return {
    ...consolidator,
    async propose(input) {
      await foreground.quiet(giveWayMs);
      return consolidator.propose(input);
    },
  };
}

type Handler = (ctx: CallContext, request: { readonly bankId?: string }) => Promise<unknown>;

/** A bank that is deleted while a call works on it was not there, as far as the caller is concerned. */
function notFoundOnceDeleted<H extends object>(foreground: Foreground, handlers: H): H {
  const guarded = Object.entries(handlers as Record<string, Handler>).map(([name, handler]) => [
    name,
    async (ctx: CallContext, request: { readonly bankId?: string }) => {
      try {
        return await foreground.serve(() => handler(ctx, request));
      } catch (error) {
        if (!isAppError(error, "BANK_FENCED")) throw error;
        throw new AppError("not_found", "BANK_NOT_FOUND", `Bank '${request.bankId}' not found`);
      }
    },
  ]);
  return Object.fromEntries(guarded) as H;
}
