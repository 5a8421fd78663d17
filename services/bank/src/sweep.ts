import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import type { Logger } from "@memory-bank/telemetry";
import { AUDIT_SWEEP_MAX } from "./audit-store.ts";
import { type BankStorage, TOMBSTONES_MAX } from "./bank-store.ts";
import { IDEMPOTENCY_SWEEP_MAX } from "./idempotency-store.ts";

const SWEEP_PAUSE_MS = 3_600_000; // ages are counted in days, so an hour late does not matter
const DAY_US = 24 * 3_600 * 1_000_000;
// Audit entries of calls to a dead bank may come late, through the bus; its tombstone tells them from a successor's.
const TOMBSTONE_DAYS = 1;

/** Deletes what has become too old: audit entries by the retention setting, tombstones of purged banks, and idempotency keys. */
export interface Sweep {
  /** Sweeps now and then every hour. */
  start(): void;
  /** One sweep; in steps, so that requests get their turn in between. */
  run(): Promise<void>;
  /** Waits for a sweep that runs. */
  stop(): Promise<void>;
}

export function createSweep(deps: {
  readonly storage: BankStorage;
  /** Days that audit entries are kept; negative for ever. */
  readonly auditRetentionDays: number;
  readonly nowUs: () => number;
  readonly log: Logger;
  readonly timers?: Timers | undefined;
}): Sweep {
  const { storage, auditRetentionDays, nowUs, log, timers = systemTimers } = deps;
  let isStopped = false;
  let timer: TimerHandle;
  let running = Promise.resolve();

  const run = async () => {
    if (auditRetentionDays >= 0) await sweepAudit(nowUs() - auditRetentionDays * DAY_US);
    await sweepTombstones(nowUs() - TOMBSTONE_DAYS * DAY_US);
    await sweepIdempotency(nowUs());
  };
  const sweepAudit = async (beforeUs: number) => {
    let deleted = AUDIT_SWEEP_MAX;
    while (!isStopped && deleted === AUDIT_SWEEP_MAX) deleted = await storage.audit.deleteBefore(beforeUs);
  };
  const sweepTombstones = async (beforeUs: number) => {
    let forgotten = TOMBSTONES_MAX;
    while (!isStopped && forgotten === TOMBSTONES_MAX) {
      const bankUids = await storage.banks.forgetTombstones(beforeUs);
      for (const bankUid of bankUids) await storage.jobs.purgeGroup(bankUid);
      forgotten = bankUids.length;
    }
  };
  const sweepIdempotency = async (atUs: number) => {
    let deleted = IDEMPOTENCY_SWEEP_MAX;
    while (!isStopped && deleted === IDEMPOTENCY_SWEEP_MAX) deleted = await storage.idempotency.deleteEnded(atUs);
  };
  const sweepAndWait = () => {
    // Nobody waits for a sweep: what failed is logged here, and the next one takes it up.
    running = run()
      .catch((error) => log.error({ err: error }, "sweep failed"))
      .then(() => {
        if (!isStopped) timer = timers.setTimeout(sweepAndWait, SWEEP_PAUSE_MS);
      });
  };
  return {
    start: sweepAndWait,
    run,
    async stop() {
      isStopped = true;
      timers.clearTimeout(timer);
      await running;
    },
  };
}
