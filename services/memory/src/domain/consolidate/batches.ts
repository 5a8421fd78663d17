import type { ObservationScopes, Unit } from "../unit.ts";
import { type Scope, scopeKey, scopesOf } from "./scopes.ts";

/** Facts with the same tags that feed the same scopes, and are decided on together. */
export interface FactBatch {
  readonly facts: readonly Unit[];
  readonly scopes: readonly Scope[];
}

/** Groups units by tag set and scopes, in order of arrival, into batches of bounded size. `override` replaces the units' own scopes. */
export function batchesOf(units: readonly Unit[], factsMax: number, override: ObservationScopes | undefined): FactBatch[] {
  const groups = new Map<string, { facts: Unit[]; scopes: readonly Scope[] }>();
  for (const unit of units) {
    const scopes = scopesOf(unit.tags, override ?? unit.observationScopes);
    const key = JSON.stringify([[...unit.tags].sort(), scopes]);
    const group = groups.get(key);
    if (group) group.facts.push(unit);
    else groups.set(key, { facts: [unit], scopes });
  }
  return [...groups.values()].flatMap(({ facts, scopes }) =>
    Array.from({ length: Math.ceil(facts.length / factsMax) }, (_, i) => ({
      facts: facts.slice(i * factsMax, (i + 1) * factsMax),
      scopes,
    })),
  );
}

/** The two halves of a batch that failed, so that a culprit is found in few steps. */
export function halves({ facts, scopes }: FactBatch): [FactBatch, FactBatch] {
  const middle = Math.ceil(facts.length / 2);
  return [
    { facts: facts.slice(0, middle), scopes },
    { facts: facts.slice(middle), scopes },
  ];
}

/**
 * Runs work over batches, up to `parallel` at a time, never two that share a scope. `work` may add batches to the queue it is given.
 * The first failure stops the start of further work and is thrown once what runs has ended.
 */
export async function runBatches(
  batches: readonly FactBatch[],
  parallel: number,
  work: (batch: FactBatch, add: (batches: readonly FactBatch[]) => void) => Promise<void>,
): Promise<void> {
  const queue = [...batches];
  const busy = new Set<string>();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const start = (batch: FactBatch): void => {
    const keys = batch.scopes.map(scopeKey);
    for (const key of keys) busy.add(key);
    const done = work(batch, (added) => queue.unshift(...added))
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => {
        for (const key of keys) busy.delete(key);
        running.delete(done);
      });
    running.add(done);
  };
  for (;;) {
    const next = failures.length > 0 ? -1 : queue.findIndex(({ scopes }) => scopes.every((scope) => !busy.has(scopeKey(scope))));
    if (next >= 0 && running.size < parallel) start(queue.splice(next, 1)[0]!);
    else if (running.size > 0) await Promise.race(running);
    else break;
  }
  if (failures.length > 0) throw failures[0];
}
