import type { Timers } from "@memory-bank/lifecycle";
import type { Logger } from "@memory-bank/telemetry";
import type { TargetVault } from "../domain/target-vault.ts";
import type { WebhookStore } from "../webhook-store.ts";

/** How often rows that nobody can see any more are looked for. */
export const SWEEP_MS = 60_000;
const DAY_US = 86_400_000_000;

export interface HousekeepingDeps {
  readonly store: Pick<WebhookStore, "sweep" | "targetsNotUnder" | "reseal">;
  readonly vault: TargetVault;
  readonly retentionDays: number;
  readonly nowUs: () => number;
  readonly timers: Timers;
  readonly log: Logger;
}

/** Deletes what is past its retention, and encrypts old targets anew after the key was changed. */
export interface Housekeeping {
  start(): void;
  stop(): Promise<void>;
}

export function createHousekeeping(deps: HousekeepingDeps): Housekeeping {
  const { store, vault, timers, log } = deps;
  let running = Promise.resolve();
  let timer: unknown;
  let isStopped = false;

  const sweepAll = async () => {
    const finishedBeforeUs = deps.nowUs() - deps.retentionDays * DAY_US;
    while (!isStopped && (await store.sweep(finishedBeforeUs)) > 0);
  };
  const resealAll = async () => {
    while (!isStopped) {
      const outdated = await store.targetsNotUnder(vault.keyId);
      if (outdated.length === 0) return;
      for (const sealed of outdated) await store.reseal(vault.seal(sealed.id, vault.open(sealed)));
      log.info({ count: outdated.length }, "webhook targets were encrypted with the new key");
    }
  };
  const tick = async () => {
    try {
      await resealAll();
      await sweepAll();
    } catch (error) {
      log.warn({ err: error }, "housekeeping of webhooks failed");
    }
    if (!isStopped) timer = timers.setTimeout(startTick, SWEEP_MS);
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
