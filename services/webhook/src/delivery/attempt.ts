import { isAppError } from "@memory-bank/errors";
import type { Logger } from "@memory-bank/telemetry";
import { type SendOutcome, settlementOf } from "../domain/attempt-result.ts";
import type { ClaimedDelivery, Settlement } from "../domain/delivery.ts";
import { requestOf } from "../domain/request.ts";
import type { TargetVault } from "../domain/target-vault.ts";
import type { Sender } from "../sender/sender.ts";
import type { AttemptEnd } from "./lanes.ts";

export interface AttemptDeps {
  readonly sender: Sender;
  readonly vault: TargetVault;
  readonly nowUs: () => number;
  readonly scheduleUs: () => number;
  readonly newId: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  /** False hides what receivers answer from the records. */
  readonly keepsResponseBodies: boolean;
  readonly log: Logger;
}

/** One attempt: what is to be recorded, and what it says about the receiver. */
export interface Attempt {
  readonly settlement: Settlement;
  readonly end: AttemptEnd;
}

/** Makes one attempt; rejects only when `signal` aborts. */
export async function makeAttempt(deps: AttemptDeps, delivery: ClaimedDelivery, signal: AbortSignal): Promise<Attempt> {
  const outcome = await outcomeOf(deps, delivery, signal);
  const { nowUs, scheduleUs, random } = deps;
  const settlement = settlementOf(outcome, delivery.roundAttempts, { nowUs: nowUs(), scheduleUs: scheduleUs(), random });
  const isCutOff = outcome.kind === "answered" && outcome.isCutOff === true;
  return {
    settlement: deps.keepsResponseBodies ? settlement : { ...settlement, lastResponseBody: null },
    end: settlement.status !== "completed" ? "failure" : isCutOff ? "cut off" : "success",
  };
}

async function outcomeOf(deps: AttemptDeps, delivery: ClaimedDelivery, signal: AbortSignal): Promise<SendOutcome> {
  const { deliveryId } = delivery.claim;
  try {
    const request = requestOf({
      deliveryId,
      eventType: delivery.eventType,
      body: delivery.body,
      traceparent: delivery.traceparent,
      target: deps.vault.open(delivery.target),
      nowUs: deps.nowUs(),
      spanId: deps.newId().replaceAll("-", "").slice(0, 16),
    });
    return await deps.sender.send(request, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // Whatever it is, the delivery must move on along its schedule: given back at once, it would come round for ever.
    deps.log.error({ err: error, deliveryId }, "webhook attempt failed unexpectedly");
    const reason = isAppError(error, "TARGET_KEY_MISSING") ? "Encryption key is not configured" : "Internal error";
    return { kind: "broken", reason, status: null };
  }
}
