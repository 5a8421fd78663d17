import { afterCutOff, afterFailure, afterSlowSuccess, afterSuccess, type Lane, newLane, whileSlow } from "../domain/lane.ts";

/** Attempts at once to receivers that have answered well so far, or have not been called yet. */
export const SOUND_SLOTS = 128;
/** Attempts at once to slow and failing receivers, all of them together. */
export const TROUBLED_SLOTS = 128;
/** Attempts at once in all: those that turn slow move over to the troubled ones beyond their slots, up to this. */
export const SLOTS_MAX = 1_024;
/** Deliveries that one claim takes, so that its transaction stays short. */
export const CLAIM_MAX = 64;
/** Lanes whose history is remembered while they are idle. */
const LANES_MAX = 10_000;

interface LaneState {
  lane: Lane;
  inFlight: number;
}

/** One attempt's place. */
export interface Slot {
  readonly webhookId: string;
  /** Which slots it counts in: by what its lane was at the start, until it turns slow. */
  isTroubled: boolean;
  isSlow: boolean;
}

/** `cut off`: a success whose answer was too long; `stopped`: says nothing about the receiver. */
export type AttemptEnd = "success" | "cut off" | "failure" | "stopped";

export interface LaneAsk {
  readonly webhookId: string;
  readonly limit: number;
}

/**
 * Shares the workers out among webhooks: who may send how much now. Receivers in trouble have slots of their own, so
 * that no number of them takes what the others need; a new one that stalls gives its sound slot back as soon as it is slow.
 */
export interface Lanes {
  /** Notes that a webhook may have due deliveries. */
  markReady(webhookId: string): void;
  /** What to claim now, in turn; the webhooks that are asked go to the end of the queue. */
  nextAsks(nowMs: number): readonly LaneAsk[];
  /** Notes that a claim brought fewer than were asked for: nothing more is due. A mark that came since `nextAsks` stays. */
  drained(webhookId: string): void;
  /** When the first paused webhook may go on, or `null`. */
  resumeAtMs(nowMs: number): number | null;
  begin(webhookId: string): Slot;
  /** Notes that an attempt has been running for long. */
  slowed(slot: Slot): void;
  end(slot: Slot, result: AttemptEnd, nowMs: number): void;
}

export function createLanes(): Lanes {
  const states = new Map<string, LaneState>();
  // In order of their turn. True: marked again since it was last asked.
  const ready = new Map<string, boolean>();
  const used = { sound: 0, troubled: 0 };
  const kindOf = ({ isTroubled }: { readonly isTroubled: boolean }) => (isTroubled ? "troubled" : "sound");

  const stateOf = (webhookId: string): LaneState => {
    const known = states.get(webhookId);
    if (known) return known;
    if (states.size >= LANES_MAX) forgetOneIdle();
    const state = { lane: newLane, inFlight: 0 };
    states.set(webhookId, state);
    return state;
  };
  const forgetOneIdle = () => {
    for (const [id, { inFlight }] of states) {
      if (inFlight > 0 || ready.has(id)) continue;
      states.delete(id);
      return;
    }
  };

  return {
    markReady(webhookId) {
      ready.set(webhookId, true);
    },

    nextAsks(nowMs) {
      const asks: LaneAsk[] = [];
      let left = Math.min(CLAIM_MAX, SLOTS_MAX - used.sound - used.troubled);
      const free = { sound: SOUND_SLOTS - used.sound, troubled: TROUBLED_SLOTS - used.troubled };
      for (const webhookId of ready.keys()) {
        if (left <= 0 || (free.sound <= 0 && free.troubled <= 0)) break;
        const { lane, inFlight } = stateOf(webhookId);
        if (lane.resumeAtMs > nowMs) continue;
        const kind = kindOf(lane);
        const limit = Math.min(lane.allowance - inFlight, free[kind], left);
        if (limit <= 0) continue;
        free[kind] -= limit;
        left -= limit;
        asks.push({ webhookId, limit });
      }
      for (const { webhookId } of asks) {
        ready.delete(webhookId);
        ready.set(webhookId, false);
      }
      return asks;
    },

    drained(webhookId) {
      if (ready.get(webhookId) === false) ready.delete(webhookId);
    },

    resumeAtMs(nowMs) {
      let first: number | null = null;
      for (const webhookId of ready.keys()) {
        const { resumeAtMs } = stateOf(webhookId).lane;
        if (resumeAtMs > nowMs && (first === null || resumeAtMs < first)) first = resumeAtMs;
      }
      return first;
    },

    begin(webhookId) {
      const state = stateOf(webhookId);
      state.inFlight += 1;
      used[kindOf(state.lane)] += 1;
      return { webhookId, isTroubled: state.lane.isTroubled, isSlow: false };
    },

    slowed(slot) {
      const state = stateOf(slot.webhookId);
      state.lane = whileSlow(state.lane);
      used[kindOf(slot)] -= 1;
      slot.isSlow = true;
      slot.isTroubled = true;
      used.troubled += 1;
    },

    end(slot, result, nowMs) {
      const state = stateOf(slot.webhookId);
      state.inFlight -= 1;
      used[kindOf(slot)] -= 1;
      if (result === "success") state.lane = slot.isSlow ? afterSlowSuccess(state.lane) : afterSuccess(state.lane);
      if (result === "cut off") state.lane = afterCutOff(nowMs);
      if (result === "failure") state.lane = afterFailure(state.lane, nowMs);
    },
  };
}
