import type { Timers } from "@memory-bank/lifecycle";
import type { Meter } from "@memory-bank/telemetry";
import type { ClaimedDelivery, Settlement } from "../domain/delivery.ts";
import { DUE_LANES_MAX, type DueLane, type WebhookStore } from "../webhook-store.ts";
import { type AttemptDeps, makeAttempt } from "./attempt.ts";
import { createLanes } from "./lanes.ts";

/** How often the store is asked for due deliveries that this process does not know of: work that others queued or left. */
export const POLL_MS = 5_000;
/** Parts of the list of due webhooks that one look takes; the next look goes on where it ended. */
const PARTS_PER_POLL_MAX = 20;
/** An attempt that takes longer says that its receiver is slow. */
export const SLOW_MS = 1_000;
/** Pause before an outcome that could not be written is written again; the attempt is over, so nothing is sent meanwhile. */
const SETTLE_AGAIN_MS = 1_000;
/** How long attempts may finish after a stop was asked for. */
export const DRAIN_MS_MAX = 5_000;

export interface DispatcherDeps extends AttemptDeps {
  readonly store: WebhookStore;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  /** Names this start of this process. */
  readonly owner: string;
  readonly meter?: Meter | undefined;
}

/** Sends what is due, as much at once as the lanes allow. */
export interface Dispatcher {
  start(): void;
  /** Says that these webhooks have got deliveries, so that they need not wait for the next poll. */
  nudge(webhookIds: readonly string[]): void;
  /** Starts nothing more, lets attempts finish for a while, then breaks them off and gives them back. */
  stop(): Promise<void>;
  /** Attempts whose outcome is not written yet. */
  inFlight(): number;
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, timers, log, monotonicMs } = deps;
  const lanes = createLanes();
  const attempts = new Set<Promise<void>>();
  let polling = Promise.resolve();
  let turning = Promise.resolve();
  const stopping = new AbortController();
  const breaking = new AbortController();
  const outcomes = deps.meter?.counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver, by what they came to",
    labels: ["result"],
  });
  let after: DueLane | null = null;
  let wakeAtUs = Number.POSITIVE_INFINITY;
  let isTurning = false;
  let isTurnWanted = false;
  let pollTimer: unknown;
  let resumeTimer: unknown;

  const poll = async () => {
    wakeAtUs = Number.POSITIVE_INFINITY;
    try {
      for (let part = 0; part < PARTS_PER_POLL_MAX; part += 1) {
        const due = await store.dueLanes(deps.scheduleUs(), after);
        for (const { webhookId } of due) lanes.markReady(webhookId);
        after = due.length < DUE_LANES_MAX ? null : due.at(-1)!;
        if (after === null) break;
      }
      wantTurn();
      wakeBy((await store.nextDueUs(deps.scheduleUs())) ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      log.warn({ err: error }, "due deliveries could not be read");
    }
    wakeBy(deps.scheduleUs() + POLL_MS * 1_000);
  };
  const wakeBy = (dueUs: number) => {
    if (dueUs >= wakeAtUs || stopping.signal.aborted) return;
    wakeAtUs = dueUs;
    timers.clearTimeout(pollTimer);
    pollTimer = timers.setTimeout(startPoll, Math.max(0, Math.ceil((dueUs - deps.scheduleUs()) / 1_000)));
  };
  const startPoll = () => {
    polling = polling.then(poll);
  };

  // Attempts that end in one turn of the event loop are answered by one claim.
  const wantTurn = () => {
    if (isTurnWanted || stopping.signal.aborted) return;
    isTurnWanted = true;
    if (!isTurning) setImmediate(startTurn);
  };
  const startTurn = () => {
    turning = turn();
  };

  const turn = async () => {
    isTurning = true;
    isTurnWanted = false;
    try {
      while (!stopping.signal.aborted && (await claimSome()));
    } catch (error) {
      log.warn({ err: error }, "due deliveries could not be claimed");
    }
    isTurning = false;
    if (isTurnWanted) setImmediate(startTurn);
    else resumeLater();
  };

  const claimSome = async (): Promise<boolean> => {
    const asks = lanes.nextAsks(monotonicMs());
    if (asks.length === 0) return false;
    const claimed = await store.claim({ owner: deps.owner, nowUs: deps.nowUs(), dueUs: deps.scheduleUs(), lanes: asks });
    const counts = new Map<string, number>();
    for (const delivery of claimed) {
      const { webhookId } = delivery.claim;
      counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1);
      startAttempt(delivery);
    }
    for (const { webhookId, limit } of asks) if ((counts.get(webhookId) ?? 0) < limit) lanes.drained(webhookId);
    return true;
  };

  const resumeLater = () => {
    timers.clearTimeout(resumeTimer);
    const atMs = lanes.resumeAtMs(monotonicMs());
    if (atMs !== null && !stopping.signal.aborted) resumeTimer = timers.setTimeout(wantTurn, Math.max(0, atMs - monotonicMs()));
  };

  const startAttempt = (delivery: ClaimedDelivery) => {
    const attempt = runAttempt(delivery).finally(() => attempts.delete(attempt));
    attempts.add(attempt);
  };

  const runAttempt = async (delivery: ClaimedDelivery): Promise<void> => {
    const slot = lanes.begin(delivery.claim.webhookId);
    const slowTimer = timers.setTimeout(() => lanes.slowed(slot), SLOW_MS);
    const attempt = await makeAttempt(deps, delivery, breaking.signal).catch(() => undefined); // undefined: broken off
    timers.clearTimeout(slowTimer);
    lanes.end(slot, attempt?.end ?? "stopped", monotonicMs());
    // Asked for before the outcome is written, so that a store that groups commits takes the next claim into the same one.
    wantTurn();
    await recordOutcome(delivery, attempt?.settlement);
  };

  const recordOutcome = async ({ claim, eventType }: ClaimedDelivery, settlement: Settlement | undefined) => {
    const isKept = await untilWritten(() =>
      settlement === undefined ? store.release(claim, deps.scheduleUs()) : store.settle(claim, settlement),
    );
    if (settlement?.status === "pending") wakeBy(settlement.dueUs);
    const result = settlement?.status ?? "released";
    outcomes?.add({ result });
    const { deliveryId, webhookId } = claim;
    const reason = settlement === undefined || settlement.status === "completed" ? {} : { reason: settlement.lastError };
    log.info(
      { deliveryId, webhookId, eventType, result, ...reason, ...(isKept ? {} : { isClaimLost: true }) },
      "webhook attempt",
    );
  };

  /** A store that is briefly unable to write must not lose what a receiver has answered. False: lost to another, or to the stop. */
  const untilWritten = async (write: () => Promise<boolean>): Promise<boolean> => {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        log.warn({ err: error }, "the outcome of an attempt could not be written");
        if (breaking.signal.aborted) return false;
        await new Promise<void>((resolve) => timers.setTimeout(resolve, SETTLE_AGAIN_MS));
      }
    }
  };

  return {
    start() {
      startPoll();
    },
    nudge(webhookIds) {
      for (const id of webhookIds) lanes.markReady(id);
      wantTurn();
    },
    async stop() {
      stopping.abort();
      timers.clearTimeout(pollTimer);
      timers.clearTimeout(resumeTimer);
      const breakTimer = timers.setTimeout(() => breaking.abort(new Error("stopping")), DRAIN_MS_MAX);
      await Promise.all([polling, turning]); // a claim that was on its way still starts its attempts
      await Promise.all(attempts);
      timers.clearTimeout(breakTimer);
    },
    inFlight: () => attempts.size,
  };
}
