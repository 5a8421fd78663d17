import { AppError, isAppError } from "@memory-bank/errors";
import type { Claim } from "@memory-bank/jobs";
import type { Logger } from "@memory-bank/telemetry";
import type { KeyedLock } from "../../keyed-lock.ts";
import type { BankRef, ObservationScopes, Unit } from "../unit.ts";
import { batchesOf, type FactBatch, halves, runBatches } from "./batches.ts";
import { consolidationSettings } from "./consolidation-settings.ts";
import { type DecideDeps, type Decision, decide, isOutage } from "./decide.ts";
import { createRoundTally, type RoundTally } from "./round-tally.ts";
import { reportFailure, writeBatch } from "./write-batch.ts";

export interface ConsolidationDeps extends DecideDeps {
  readonly lock: KeyedLock;
  readonly log: Logger;
}

export interface ConsolidationRun {
  readonly bank: BankRef;
  /** The bank's resolved configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Replaces the scopes of the units. */
  readonly scopesOverride: ObservationScopes | undefined;
  /** The job that the last commit finishes. */
  readonly claim: Claim;
  readonly signal: AbortSignal;
  readonly progress: (processed: number, total: number) => Promise<void>;
}

/** Units read at a time (contract 13.1). */
const unitsPerFetch = 50;
/** Tries with a single fact before it is given up (contract 13, state table). */
const attemptsMax = 3;
/** Times that a batch is decided on again because others changed what it rests on. */
const overtakenMax = 8;

/**
 * One round over the pending units of a bank. A batch is decided on without holding anybody up, then checked and written in one
 * commit that also marks its units: a crash repeats at most what had no effect. The last commit finishes the job, reports the
 * round, and queues another one when units are left.
 */
export async function consolidateBank(deps: ConsolidationDeps, run: ConsolidationRun): Promise<void> {
  const { unitsPerRound } = consolidationSettings(run.config);
  const { pendingConsolidation } = await deps.store.stats(run.bank.bankUid);
  const tally = createRoundTally(Math.min(pendingConsolidation, unitsPerRound));
  try {
    await runWindows(deps, run, tally);
  } catch (error) {
    if (isWithdrawn(error, run.signal)) throw error;
    await reportFailure(deps, run, tally, error instanceof AppError ? error.message : "Internal error");
    throw error;
  }
}

/** The job or its bank is no longer ours: nobody waits for a report. */
function isWithdrawn(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || isAppError(error, "LEASE_LOST") || isAppError(error, "BANK_FENCED");
}

async function runWindows(deps: ConsolidationDeps, run: ConsolidationRun, tally: RoundTally): Promise<void> {
  const { bankUid } = run.bank;
  const settings = consolidationSettings(run.config);
  const seen = new Set<string>();
  for (let isOver = false; !isOver; ) {
    run.signal.throwIfAborted();
    const limit = Math.min(unitsPerFetch, settings.unitsPerRound - seen.size);
    const fetched = await deps.store.pendingUnits(bankUid, limit + 1, seen);
    const units = fetched.slice(0, limit);
    for (const unit of units) seen.add(unit.unitId);
    const areUnitsLeft = fetched.length > limit;
    isOver = !areUnitsLeft || seen.size >= settings.unitsPerRound;
    const batches = batchesOf(units, settings.factsPerBatch, run.scopesOverride);
    tally.open({ batches: batches.length, isLastWindow: isOver, areUnitsLeft });
    if (batches.length === 0) await writeBatch(deps, run, tally, { done: [], failed: [], decision: undefined });
    await runBatches(batches, settings.parallelBatches, (batch, add) => settle(deps, run, tally, batch, add));
  }
}

/** Decides on a batch and writes it; a batch that fails is halved until the culprit stands alone and is marked as failed. */
async function settle(
  deps: ConsolidationDeps,
  run: ConsolidationRun,
  tally: RoundTally,
  batch: FactBatch,
  add: (batches: readonly FactBatch[]) => void,
): Promise<void> {
  const settings = consolidationSettings(run.config);
  const { bankUid } = run.bank;
  let facts = batch.facts;
  let failures = 0;
  for (let overtaken = 0; overtaken < overtakenMax; overtaken++) {
    let decision: Decision | undefined;
    while (decision === undefined && facts.length > 0) {
      try {
        decision = await decide(deps, { ...run, settings, batch: { ...batch, facts } });
      } catch (error) {
        if (isOutage(error, run.signal)) throw error;
        failures++;
        deps.log.warn({ err: error, bankUid, facts: facts.length, failures }, "facts could not be consolidated");
        if (facts.length > 1) {
          tally.split();
          add(halves({ ...batch, facts }));
          return;
        }
        if (failures === attemptsMax) {
          await writeBatch(deps, run, tally, { done: [], failed: facts, decision: undefined });
          return;
        }
      }
    }
    if (await writeBatch(deps, run, tally, { done: facts, failed: [], decision })) return;
    facts = await unchangedFacts(deps, bankUid, facts);
  }
  throw new AppError("unavailable", "BANK_BUSY", "The bank changed faster than it could be consolidated");
}

/** Facts that are gone or edited are left to the run that their change asked for. */
async function unchangedFacts(deps: ConsolidationDeps, bankUid: string, facts: readonly Unit[]): Promise<readonly Unit[]> {
  const ids = facts.map((fact) => fact.unitId);
  const before = new Map(facts.map((fact) => [fact.unitId, fact.updatedAtUs]));
  return (await deps.store.getUnits(bankUid, ids)).filter(
    (unit) => unit.updatedAtUs === before.get(unit.unitId) && unit.consolidatedAtUs === undefined,
  );
}
