/** What a store sees of a running job. */
export interface ObservedLease {
  readonly jobId: string;
  readonly kind: string;
  readonly epoch: number;
  /** Counts the renewals. */
  readonly heartbeat: number;
  readonly leaseMs: number;
}

/** Tells which leases are over by watching them; it needs to be asked again and again. */
export interface LeaseObserver {
  /** `leases` are all running jobs of `kinds`. Answers those whose heartbeat has stood still for their lease time. */
  over(leases: readonly ObservedLease[], kinds: readonly string[]): readonly ObservedLease[];
}

interface Watch {
  readonly lease: ObservedLease;
  readonly sinceMs: number;
  readonly lastLookMs: number;
}

// A longer pause between two looks and the observer may be the one that stood still, with holders in its own process.
const LOOKS_PER_LEASE_MIN = 2;

/**
 * A lease is judged by the clock of the observer alone, which never goes back: clocks of two machines differ, and the wall clock of
 * one can be set. So nothing is over before this process has watched it for the whole lease time.
 */
export function createLeaseObserver(monotonicMs: () => number): LeaseObserver {
  const watches = new Map<string, Watch>();

  function look(lease: ObservedLease, nowMs: number): Watch {
    const before = watches.get(lease.jobId);
    const isSame = before?.lease.epoch === lease.epoch && before.lease.heartbeat === lease.heartbeat;
    const isPrompt = before !== undefined && nowMs - before.lastLookMs <= lease.leaseMs / LOOKS_PER_LEASE_MIN;
    const watch = { lease, sinceMs: before && isSame && isPrompt ? before.sinceMs : nowMs, lastLookMs: nowMs };
    watches.set(lease.jobId, watch);
    return watch;
  }

  return {
    over(leases, kinds) {
      const nowMs = monotonicMs();
      const present = new Set(leases.map(({ jobId }) => jobId));
      for (const [jobId, { lease }] of watches) if (kinds.includes(lease.kind) && !present.has(jobId)) watches.delete(jobId);
      return leases.filter((lease) => nowMs - look(lease, nowMs).sinceMs >= lease.leaseMs);
    },
  };
}
