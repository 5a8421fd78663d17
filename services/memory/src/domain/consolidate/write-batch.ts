import { isAppError } from "@memory-bank/errors";
import { consolidationJob } from "../../consolidation-job.ts";
import { consolidationCompleted } from "../../events.ts";
import type { Consequences, ConsolidationCommit } from "../../memory-store.ts";
import type { Unit } from "../unit.ts";
import type { ConsolidationDeps, ConsolidationRun } from "./consolidate-bank.ts";
import { consolidationSettings } from "./consolidation-settings.ts";
import type { Decision } from "./decide.ts";
import { linksOfObservations } from "./observation-links.ts";
import type { RoundCounts, RoundTally, Written } from "./round-tally.ts";

/** Writers of other processes may move the bank between check and commit this often in a row. */
const commitAttemptsMax = 8;

/**
 * Writes what was decided on a batch and marks its units, in one commit that also ends the round when it is the last one. Answers
 * false, with nothing written, when a unit that the decision rests on has changed since.
 */
export function writeBatch(
  deps: ConsolidationDeps,
  run: ConsolidationRun,
  tally: RoundTally,
  written: Written,
): Promise<boolean> {
  // One writer at a time per bank: what is checked here must still hold in the commit.
  return deps.lock.run(run.bank.bankUid, async () => {
    run.signal.throwIfAborted();
    const { bankUid } = run.bank;
    const vectors = written.decision?.vectors ?? new Map<string, Float32Array>();
    const before = await deps.vectors.get(bankUid, [...vectors.keys()]);
    let isWritten = false;
    try {
      // Vectors go first: an observation is never visible without its vector. When nothing comes of it the old ones come back.
      if (await isOvertaken(deps, bankUid, written)) return false;
      await deps.vectors.upsert(bankUid, rowsOf(vectors));
      isWritten = await commit(deps, run, tally, written);
      return isWritten;
    } finally {
      if (!isWritten && vectors.size > 0) {
        await deps.vectors.remove(bankUid, [...vectors.keys()]);
        await deps.vectors.upsert(bankUid, rowsOf(before));
      }
    }
  });
}

async function commit(deps: ConsolidationDeps, run: ConsolidationRun, tally: RoundTally, written: Written): Promise<boolean> {
  const { bankUid } = run.bank;
  for (let attempt = 1; ; attempt++) {
    const expectedSeq = await deps.store.seq(bankUid);
    if (await isOvertaken(deps, bankUid, written)) return false;
    const isClosing = tally.isClosing;
    try {
      const { removedUnitIds } = await deps.store.commitConsolidation(
        await commitOf(deps, run, written, expectedSeq, isClosing ? closing(deps, run, tally, written) : noConsequences),
      );
      tally.add(written);
      const updatedIds = new Set(written.decision?.updates.map((update) => update.unitId));
      await deps.vectors.remove(
        bankUid,
        removedUnitIds.filter((unitId) => !updatedIds.has(unitId)),
      );
    } catch (error) {
      if (!isAppError(error, "SEQ_MOVED") || attempt === commitAttemptsMax) throw error;
      continue;
    }
    if (!isClosing) await run.progress(tally.processed, tally.total);
    return true;
  }
}

/** Whether a unit went away or changed since it was read. */
async function isOvertaken(deps: ConsolidationDeps, bankUid: string, { done, decision }: Written): Promise<boolean> {
  if (!decision) return false;
  const expected = new Map<string, Unit>([...decision.restsOn, ...done].map((unit) => [unit.unitId, unit]));
  const current = await deps.store.getUnits(bankUid, [...expected.keys()]);
  const handled = new Set(done.map((unit) => unit.unitId));
  return (
    current.length < expected.size ||
    current.some((unit) => unit.updatedAtUs !== expected.get(unit.unitId)!.updatedAtUs) ||
    // Another process took the job over and has done it already.
    current.some((unit) => handled.has(unit.unitId) && unit.consolidatedAtUs !== undefined)
  );
}

async function commitOf(
  deps: ConsolidationDeps,
  run: ConsolidationRun,
  { done, failed, decision }: Written,
  expectedSeq: number,
  consequences: Consequences,
): Promise<ConsolidationCommit> {
  const { deletes, updates, creates, supersedes, vectors } = decision ?? nothing;
  const { semanticLinkMin } = consolidationSettings(run.config);
  return {
    bank: run.bank,
    expectedSeq,
    nowUs: deps.nowUs(),
    ...{ deletes, updates, creates, supersedes },
    links: await linksOfObservations(deps, run.bank.bankUid, [...updates, ...creates], vectors, semanticLinkMin),
    done: done.map((unit) => unit.unitId),
    failed: failed.map((unit) => unit.unitId),
    ...consequences,
  };
}

const noConsequences: Consequences = { events: [], jobs: [] };
const nothing: Decision = {
  deletes: [],
  updates: [],
  creates: [],
  supersedes: [],
  vectors: new Map(),
  restsOn: [],
  usage: { input: 0, output: 0, cached: 0, reasoning: 0 },
};

/** The end of a round: its job is done, its report goes out, and what is left gets a round of its own. */
function closing(deps: ConsolidationDeps, run: ConsolidationRun, tally: RoundTally, written: Written): Consequences {
  const counts = tally.with(written);
  const nowUs = deps.nowUs();
  const next = consolidationJob(run.bank, deps.newId(), nowUs, { scopes: run.scopesOverride, isUrgent: true });
  return {
    events: [reportOf(deps, run, counts, undefined)],
    jobs: tally.areUnitsLeft ? [next] : [],
    completes: {
      claim: run.claim,
      result: {
        items_count: counts.done + counts.failed,
        observations_created: counts.created,
        observations_updated: counts.updated,
        observations_deleted: counts.deleted,
        memories_failed: counts.failed,
        input_tokens: counts.usage.input,
        output_tokens: counts.usage.output,
        total_tokens: counts.usage.input + counts.usage.output,
      },
    },
  };
}

/** Tells others that an attempt failed; what it had written before stays. */
export async function reportFailure(
  deps: ConsolidationDeps,
  run: ConsolidationRun,
  tally: RoundTally,
  error: string,
): Promise<void> {
  const { bank } = run;
  const nothingWritten = { deletes: [], updates: [], creates: [], links: [], done: [], failed: [], supersedes: [] };
  await deps.lock.run(bank.bankUid, async () => {
    await deps.store.commitConsolidation({
      ...nothingWritten,
      bank,
      expectedSeq: await deps.store.seq(bank.bankUid),
      nowUs: deps.nowUs(),
      ...{ events: [reportOf(deps, run, tally.counts, error)], jobs: [] },
    });
  });
}

/** The event that a round ended, or that an attempt at it failed. The store numbers it with the commit that it goes with. */
function reportOf(deps: ConsolidationDeps, { bank, claim }: ConsolidationRun, counts: RoundCounts, error: string | undefined) {
  const { tenantId, bankUid, bankId } = bank;
  return consolidationCompleted.create({
    id: deps.newId(),
    occurredAtUs: deps.nowUs(),
    payload: {
      ...{ tenantId, bankUid, bankId, commitSeq: 0, operationId: claim.jobId },
      status: error === undefined ? "completed" : "failed",
      observationsCreated: counts.created,
      observationsUpdated: counts.updated,
      observationsDeleted: counts.deleted,
      tagSets: [...counts.tagSets].map((tags) => JSON.parse(tags) as string[]),
      error: error ?? null,
    },
  });
}

function rowsOf(vectors: ReadonlyMap<string, Float32Array>) {
  return [...vectors].map(([unitId, vector]) => ({ unitId, vector, family: "observation" as const }));
}
