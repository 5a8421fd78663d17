import type { CallContext } from "@memory-bank/context";
import type { Scope } from "@memory-bank/proto/memory/v1/memory";
import { tagFilterToProto } from "../convert.ts";
import { citedIdsOf } from "../domain/based-on.ts";
import { answersOtherQuestion, type MentalModel } from "../domain/mental-model.ts";
import { scopeOf } from "../domain/trigger.ts";
import type { ReflectDeps } from "../reflect-deps.ts";

/** What memory is asked about a model: what changed in its scope after its watermark, and which cited units are gone. */
export function changesScope(model: MentalModel, { withCited }: { readonly withCited: boolean }): Scope {
  return {
    tags: tagFilterToProto(scopeOf(model)),
    factTypes: [...(model.trigger.factTypes ?? [])],
    sinceSeq: model.watermarkSeq,
    citedIds: withCited ? [...citedIdsOf(model.reflectResponse)] : [],
  };
}

/**
 * Which of the models (of one bank) would see something new in a refresh. One call of memory for all of them; none when
 * their own state says enough. `withCited` also counts cited units that are gone.
 */
export async function findStale(
  { memory }: Pick<ReflectDeps, "memory">,
  ctx: CallContext,
  bankUid: string,
  models: readonly MentalModel[],
  { withCited = false }: { readonly withCited?: boolean } = {},
): Promise<ReadonlySet<string>> {
  const stale = new Set(models.filter(answersOtherQuestion).map(({ id }) => id));
  const unsure = models.filter(({ id }) => !stale.has(id));
  if (unsure.length === 0) return stale;
  const scopes = unsure.map((model) => changesScope(model, { withCited }));
  const { changes } = await memory.findScopeChanges(ctx, { bankUid, scopes });
  for (const [i, { changedCount, missingIds }] of changes.entries()) {
    if (changedCount > 0 || missingIds.length > 0) stale.add(unsure[i]!.id);
  }
  return stale;
}
