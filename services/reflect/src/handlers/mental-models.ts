import type { CallContext } from "@memory-bank/context";
import type { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { Rpc } from "@memory-bank/rpc";
import { modelToProto, present, tagFilterFromProto, triggerFromProto } from "../convert.ts";
import { matchesGlob } from "../domain/glob.ts";
import {
  changeMentalModel,
  clearMentalModel,
  type MentalModel,
  modelNotFound,
  newMentalModel,
  refreshJob,
} from "../domain/mental-model.ts";
import { ensureBank, type ReflectDeps, readBank, requireLanguageModel } from "../reflect-deps.ts";
import { findStale } from "../refresh/staleness.ts";

type Models = Pick<
  Rpc<typeof ReflectServiceService>,
  | "createMentalModel"
  | "getMentalModel"
  | "listMentalModels"
  | "updateMentalModel"
  | "deleteMentalModel"
  | "refreshMentalModel"
  | "clearMentalModel"
  | "getMentalModelHistory"
  | "listMentalModelTags"
>;

const LISTED = 100; // when the caller names no limit
const LIST_MAX = 1_000; // one question about freshness covers a page (contract 1.6)
const TOKENS_UNLESS_TOLD = 2_048;

/** Mental models: standing answers. */
export const mentalModelHandlers = (deps: ReflectDeps): Models => {
  const { store, nowUs, newId } = deps;

  /** The record with its freshness, cited units included: what single reads and writes answer. */
  const record = async (ctx: CallContext, bankId: string, model: MentalModel, detail?: string) => {
    const stale = await findStale(deps, ctx, model.bankUid, [model], { withCited: true });
    return modelToProto(bankId, model, stale.has(model.id), detail);
  };
  const change = async (ctx: CallContext, bankId: string, id: string, how: (model: MentalModel) => MentalModel) => {
    const { bankUid } = await readBank(deps, ctx, bankId);
    const model = await store.update(bankUid, id, how, nowUs());
    if (!model) throw modelNotFound(id);
    return record(ctx, bankId, model);
  };

  return {
    async createMentalModel(ctx, { bankId, ...request }) {
      requireLanguageModel(deps);
      const members = {
        id: request.id ?? `mm-${newId().replaceAll("-", "")}`,
        name: request.name,
        sourceQuery: request.sourceQuery,
        maxTokens: request.maxTokens || TOKENS_UNLESS_TOLD,
        tags: request.tags,
        trigger: triggerFromProto(request.trigger),
      };
      const now = nowUs();
      // Before the bank is made, so that a model that is refused leaves no bank behind.
      const draft = newMentalModel("", members, now);
      const bank = await ensureBank(deps, ctx, bankId);
      const { job } = await store.insert(
        { ...draft, bankUid: bank.bankUid },
        refreshJob(bank, draft.id, { id: newId(), nowUs: now }),
      );
      deps.wake();
      return { mentalModelId: draft.id, operationId: job.id };
    },

    async getMentalModel(ctx, { bankId, mentalModelId, detail }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      const model = await store.find(bankUid, mentalModelId);
      if (!model) throw modelNotFound(mentalModelId);
      return record(ctx, bankId, model, detail);
    },

    async listMentalModels(ctx, { bankId, tags, detail, limit, offset }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      const page = { limit: limit <= 0 ? LISTED : Math.min(limit, LIST_MAX), offset: Math.max(offset, 0) };
      const { models, total } = await store.list({ bankUid, tags: tagFilterFromProto(tags), ...page });
      const stale = await findStale(deps, ctx, bankUid, models);
      return { models: models.map((model) => modelToProto(bankId, model, stale.has(model.id), detail)), total };
    },

    updateMentalModel: (ctx, { bankId, mentalModelId, tags, trigger, ...members }) => {
      const given = present({ ...members, tags: tags?.values, trigger: trigger && triggerFromProto(trigger) });
      return change(ctx, bankId, mentalModelId, (model) => changeMentalModel(model, given, nowUs()));
    },

    clearMentalModel: (ctx, { bankId, mentalModelId }) => change(ctx, bankId, mentalModelId, clearMentalModel),

    async deleteMentalModel(ctx, { bankId, mentalModelId }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      if (!(await store.delete(bankUid, mentalModelId))) throw modelNotFound(mentalModelId);
      return {};
    },

    async refreshMentalModel(ctx, { bankId, mentalModelId }) {
      const bank = await readBank(deps, ctx, bankId);
      requireLanguageModel(deps);
      const refresh = refreshJob(bank, mentalModelId, { id: newId(), nowUs: nowUs() });
      const enqueued = await store.enqueueRefresh(mentalModelId, refresh);
      if (!enqueued) throw modelNotFound(mentalModelId);
      deps.wake();
      return { mentalModelId, operationId: enqueued.job.id };
    },

    async getMentalModelHistory(ctx, { bankId, mentalModelId }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      if (!(await store.find(bankUid, mentalModelId))) throw modelNotFound(mentalModelId);
      const versions = await store.listVersions(bankUid, mentalModelId);
      return {
        versions: versions.map(({ content, changedAtUs, reflectResponse }) => ({
          content,
          changedAtUs,
          ...present({ reflectResponse }),
        })),
      };
    },

    async listMentalModelTags(ctx, { bankId, pattern, limit, offset }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      const counts = (await store.countTags(bankUid)).filter(({ tag }) => pattern === undefined || matchesGlob(tag, pattern));
      const sorted = [...counts].sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
      return { tags: sorted.slice(offset, offset + limit).map(({ tag, count }) => ({ tag, count })), total: counts.length };
    },
  };
};
