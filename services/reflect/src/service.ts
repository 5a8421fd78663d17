import type { AuditQueue } from "@memory-bank/audit";
import { systemContext } from "@memory-bank/context";
import type { EventBus } from "@memory-bank/events";
import { createJobRunner, type JobStore } from "@memory-bank/jobs";
import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import type { LanguageModel } from "@memory-bank/models";
import { ReflectInternalServiceService, ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { implement, type Service } from "@memory-bank/rpc";
import type { Logger, Meter } from "@memory-bank/telemetry";
import { REFRESH_KIND } from "./domain/mental-model.ts";
import { consolidationCompleted } from "./events.ts";
import { languageModelHandlers } from "./handlers/language-model.ts";
import { internalHandlers } from "./handlers/lifecycle.ts";
import { mentalModelHandlers } from "./handlers/mental-models.ts";
import { operationHandlers } from "./handlers/operations.ts";
import { reflectHandlers } from "./handlers/reflect.ts";
import type { BankClient, MemoryClient, ReflectDeps } from "./reflect-deps.ts";
import type { ReflectStore } from "./reflect-store.ts";
import { auditRefresh } from "./refresh/audit-refresh.ts";
import { refreshAfterConsolidation, refreshScheduled } from "./refresh/automatic-refresh.ts";
import { runRefresh } from "./refresh/refresh-model.ts";

export interface ReflectServiceDeps {
  readonly store: ReflectStore;
  readonly jobs: JobStore;
  readonly bus: EventBus;
  readonly bank: BankClient;
  readonly memory: MemoryClient;
  readonly languageModel: LanguageModel;
  /** Where entries of refreshes go; none are left without it. */
  readonly auditQueue?: Pick<AuditQueue, "add">;
  readonly log: Logger;
  readonly meter?: Meter;
  /** Wall clock in microseconds. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Refreshes at once in this process. */
  readonly refreshConcurrency: number;
  readonly timers?: Timers;
}

const SCHEDULE_CHECK_MS = 300_000; // how late a schedule may be kept (contract 16)

/** Answers from memories, and standing answers that are kept fresh. */
export function createReflectService(given: ReflectServiceDeps): Service {
  const { bus, log, nowUs, newId } = given;
  const timers = given.timers ?? systemTimers;
  const deps: ReflectDeps = { ...given, wake: () => runner.nudge() };
  /** Calls of background work may take as long as they need; a job's lease and the end of the process stop them. */
  const background = (signal: AbortSignal) => systemContext(newId(), Number.MAX_SAFE_INTEGER, signal);
  const runner = createJobRunner({
    store: given.jobs,
    handlers: {
      [REFRESH_KIND]: {
        concurrency: given.refreshConcurrency,
        handle: (job, run) => runRefresh(deps, background(run.signal), job, run),
      },
    },
    onEnded: async (job) => {
      if (given.auditQueue) await auditRefresh({ jobs: given.jobs, queue: given.auditQueue, nowUs }, job);
    },
    now: nowUs,
    log,
    owner: newId(),
    timers,
    ...(given.meter ? { meter: given.meter } : {}),
  });

  const stopping = new AbortController();
  let subscription: AsyncDisposable | undefined;
  let scheduleTimer: TimerHandle;
  let scheduled = Promise.resolve();
  const checkSchedule = (): void => {
    scheduled = refreshScheduled(deps, background(stopping.signal))
      .catch((error: unknown) => log.warn({ err: error }, "could not look for refreshes that are due"))
      .then(() => {
        if (!stopping.signal.aborted) scheduleTimer = timers.setTimeout(checkSchedule, SCHEDULE_CHECK_MS);
      });
  };

  return {
    name: "reflect",
    implementations: [
      implement(ReflectServiceService, {
        ...reflectHandlers(deps),
        ...mentalModelHandlers(deps),
        ...languageModelHandlers(deps),
        ...operationHandlers(deps),
      }),
      implement(ReflectInternalServiceService, internalHandlers(deps)),
    ],
    async start() {
      subscription = await bus.subscribe({
        subject: consolidationCompleted.subject,
        durable: "reflect",
        handler: (event, { signal }) => refreshAfterConsolidation(deps, background(signal), event),
      });
      runner.start();
      checkSchedule();
    },
    async stop() {
      stopping.abort();
      timers.clearTimeout(scheduleTimer);
      await subscription?.[Symbol.asyncDispose]();
      await scheduled;
      await runner.stop();
    },
    ready: () => given.store.ping(),
  };
}
