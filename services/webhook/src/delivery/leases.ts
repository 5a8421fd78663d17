import type { Timers } from "@memory-bank/lifecycle";
import type { Logger } from "@memory-bank/telemetry";
import type { WebhookStore } from "../webhook-store.ts";

/** How often a process that holds deliveries shows that it lives. */
export const BEAT_MS = 5_000;
/** A process that has not beaten for this long is taken for dead: six beats, so that a long pause of its event loop is survived. */
export const LEASE_MS = 30_000;

export interface LeasesDeps {
  readonly store: Pick<WebhookStore, "beat" | "listOwners" | "releaseOwner">;
  readonly owner: string;
  readonly isBusy: () => boolean;
  readonly scheduleUs: () => number;
  readonly monotonicMs: () => number;
  readonly timers: Timers;
  readonly log: Logger;
}

/**
 * Keeps this process's claims and takes over those of processes that are gone. A lease is over when the same beat has
 * been seen for the lease time on this process's monotonic clock, so wall clocks, which may differ or be set, play no part.
 */
export interface Leases {
  start(): void;
  stop(): Promise<void>;
}

export function createLeases(deps: LeasesDeps): Leases {
  const { store, timers, monotonicMs, log } = deps;
  let seen = new Map<string, { readonly beat: number; readonly sinceMs: number }>();
  let running = Promise.resolve();
  let timer: unknown;
  let isStopped = false;

  const look = async () => {
    if (deps.isBusy()) await store.beat(deps.owner);
    const others = (await store.listOwners()).filter(({ owner }) => owner !== deps.owner);
    const nowMs = monotonicMs();
    seen = new Map(
      others.map(({ owner, beat }) => {
        const known = seen.get(owner);
        return [owner, known?.beat === beat ? known : { beat, sinceMs: nowMs }];
      }),
    );
    for (const other of others) {
      if (nowMs - seen.get(other.owner)!.sinceMs < LEASE_MS) continue;
      const released = await store.releaseOwner(other, deps.scheduleUs());
      if (released > 0) log.warn({ owner: other.owner, released }, "took back deliveries of a process that is gone");
    }
  };
  const tick = async () => {
    try {
      await look();
    } catch (error) {
      log.warn({ err: error }, "leases could not be kept");
    }
    if (!isStopped) timer = timers.setTimeout(startTick, BEAT_MS);
  };
  const startTick = () => {
    running = tick();
  };

  return {
    start: startTick,
    async stop() {
      isStopped = true;
      timers.clearTimeout(timer);
      await running;
    },
  };
}
