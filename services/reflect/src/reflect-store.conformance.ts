import type { JobStore } from "@memory-bank/jobs";
import { describe, expect, test } from "vitest";
import {
  clearMentalModel,
  type MentalModel,
  MODELS_PER_BANK_MAX,
  newMentalModel,
  refreshJob,
  VERSIONS_KEPT,
} from "./domain/mental-model.ts";
import { openFilter } from "./domain/tags.ts";
import { defaultTrigger, type Trigger } from "./domain/trigger.ts";
import type { ReflectStore } from "./reflect-store.ts";

export interface Opened extends AsyncDisposable {
  readonly store: ReflectStore;
  readonly jobs: JobStore;
}

const id = () => crypto.randomUUID();
const T = 1_767_225_600_000_000;

function aModel(parts: Partial<MentalModel> = {}): MentalModel {
  const members = { id: id(), name: "Name", sourceQuery: "Who?", maxTokens: 512, tags: [], trigger: defaultTrigger };
  return { ...newMentalModel(id(), members, T), ...parts };
}

const aRefresh = ({ bankUid, id: modelId }: Pick<MentalModel, "bankUid" | "id">, parts: { runAtUs?: number } = {}) =>
  refreshJob({ tenantId: "tenant", bankUid, bankId: "bank" }, modelId, { id: id(), nowUs: T, ...parts });

const refreshed = (content: string, parts: object = {}) => ({
  content,
  reflectResponse: { text: content },
  refreshedQuery: "Who?",
  watermarkSeq: 5,
  memorySeenAtUs: T,
  atUs: T + 10,
  ...parts,
});

export function describeReflectStore(name: string, open: () => Promise<Opened>): void {
  const insert = async ({ store }: Opened, parts: Partial<MentalModel> = {}) => {
    const model = aModel(parts);
    const { job } = await store.insert(model, aRefresh(model));
    return { model, job };
  };
  const claimAll = async ({ jobs }: Opened) =>
    jobs.claim({ kinds: ["refresh_mental_model"], limit: 10, owner: id(), leaseMs: 60_000, nowUs: T + 1_000_000_000 });
  const listIds = async ({ store }: Opened, bankUid: string, parts: object = {}) => {
    const { models, total } = await store.list({ bankUid, tags: openFilter, limit: 100, offset: 0, ...parts });
    return { ids: models.map((model) => model.id), total };
  };

  describe(`ReflectStore: ${name}`, () => {
    test("keeps every member, and the first refresh with the model", async () => {
      await using t = await open();
      const trigger: Trigger = {
        ...defaultTrigger,
        mode: "delta",
        factTypes: ["world"],
        tagGroups: [{ not: { or: [{ tags: ["ä"], match: "exact" }] } }],
        responseSchema: { type: "object", properties: { a: {} } },
        keepTrace: true,
      };
      const { model, job } = await insert(t, { trigger, tags: ["ä", "b c"], name: "Zeile 1\nZeile 2 ✓", nextCronAtUs: T });
      expect(await t.store.find(model.bankUid, model.id)).toEqual(model);
      expect(await t.store.find(id(), model.id)).toBeUndefined();
      expect(await t.jobs.get(model.bankUid, job.id)).toMatchObject({
        status: "pending",
        payload: { mental_model_id: model.id },
      });
    });

    test("refuses an id that is taken, byte for byte, and queues nothing then", async () => {
      await using t = await open();
      const { model } = await insert(t, { id: "a" });
      await expect(t.store.insert({ ...model, name: "other" }, aRefresh(model))).rejects.toMatchObject({
        code: "already_exists",
        reason: "MENTAL_MODEL_EXISTS",
      });
      expect(await t.store.find(model.bankUid, "a")).toMatchObject({ name: "Name" });
      expect((await t.jobs.list({ groupKey: model.bankUid, limit: 10, offset: 0 })).total).toBe(1);
      await insert(t, { id: "A", bankUid: model.bankUid });
      await insert(t, { id: "a" });
    });

    test("bounds the models of a bank", async () => {
      await using t = await open();
      const bankUid = id();
      const models = Array.from({ length: MODELS_PER_BANK_MAX }, () => aModel({ bankUid }));
      await Promise.all(models.map((model) => t.store.insert(model, aRefresh(model))));
      const more = aModel({ bankUid });
      await expect(t.store.insert(more, aRefresh(more))).rejects.toMatchObject({ code: "resource_exhausted" });
      await insert(t);
    });

    test("lists last refreshed first, never refreshed last, ties by id; pages and filters by tags", async () => {
      await using t = await open();
      const bankUid = id();
      await insert(t, { bankUid, id: "new", tags: ["x"] });
      await insert(t, { bankUid, id: "old", lastRefreshedAtUs: T, tags: ["x", "y"] });
      await insert(t, { bankUid, id: "tie-a", lastRefreshedAtUs: T + 1 });
      await insert(t, { bankUid, id: "tie-b", lastRefreshedAtUs: T + 1 });
      await insert(t, { id: "foreign" });
      expect(await listIds(t, bankUid)).toEqual({ ids: ["tie-b", "tie-a", "old", "new"], total: 4 });
      expect(await listIds(t, bankUid, { limit: 2, offset: 1 })).toEqual({ ids: ["tie-a", "old"], total: 4 });
      expect(await listIds(t, bankUid, { offset: 9 })).toEqual({ ids: [], total: 4 });
      const tags = (match: "any" | "all_strict" | "exact", ...wanted: string[]) =>
        listIds(t, bankUid, { tags: { tags: wanted, match, groups: [] } }).then(({ ids }) => ids);
      expect(await tags("any", "y")).toEqual(["tie-b", "tie-a", "old"]);
      expect(await tags("all_strict", "x")).toEqual(["old", "new"]);
      expect(await tags("exact", "x")).toEqual(["new"]);
      expect(await tags("exact")).toEqual(["tie-b", "tie-a"]);
      expect([...(await t.store.countTags(bankUid))].sort((a, b) => b.count - a.count)).toEqual([
        { tag: "x", count: 2 },
        { tag: "y", count: 1 },
      ]);
    });

    test("a change is applied to what is there; contents that were answers go into the history, newest first, bounded", async () => {
      await using t = await open();
      const { model } = await insert(t);
      const { bankUid, id: modelId } = model;
      await t.store.update(bankUid, modelId, (one) => ({ ...one, name: "renamed" }), T);
      expect(await t.store.listVersions(bankUid, modelId)).toEqual([]);
      const versions = VERSIONS_KEPT + 5;
      for (let i = 0; i <= versions; i++) {
        const write = (one: MentalModel) => ({ ...one, content: `v${i}`, lastRefreshedAtUs: T, reflectResponse: { n: i } });
        await t.store.update(bankUid, modelId, write, T + i);
      }
      await t.store.update(bankUid, modelId, clearMentalModel, T + 100);
      const kept = await t.store.listVersions(bankUid, modelId);
      expect(kept).toHaveLength(VERSIONS_KEPT);
      expect(kept[0]).toEqual({ content: `v${versions}`, reflectResponse: { n: versions }, changedAtUs: T + 100 });
      expect(kept.at(-1)).toMatchObject({ content: `v${versions - VERSIONS_KEPT + 1}` });
      expect(await t.store.find(bankUid, modelId)).toMatchObject({ name: "renamed", content: "", revision: 1 });
      expect(await t.store.update(bankUid, "none", (one) => one, T)).toBeUndefined();
    });

    test("a refresh that waits is answered, and starts at the earlier time; there is none for an unknown model", async () => {
      await using t = await open();
      const { model } = await insert(t);
      for (const { claim } of await claimAll(t)) await t.jobs.complete(claim, null);
      const later = await t.store.enqueueRefresh(model.id, aRefresh(model, { runAtUs: T + 500 }));
      const sooner = await t.store.enqueueRefresh(model.id, aRefresh(model, { runAtUs: T + 100 }));
      expect(sooner).toMatchObject({ deduplicated: true, job: { id: later!.job.id, nextRunAtUs: T + 100 } });
      expect(await t.store.enqueueRefresh("none", aRefresh({ ...model, id: "none" }))).toBeUndefined();
    });

    test("content and the end of the job are one write", async () => {
      await using t = await open();
      const { model, job } = await insert(t);
      const [claimed] = await claimAll(t);
      await t.store.commitRefresh(claimed!.claim, model, refreshed("answer"), "content_written");
      expect(await t.store.find(model.bankUid, model.id)).toMatchObject({
        content: "answer",
        reflectResponse: { text: "answer" },
        refreshedQuery: "Who?",
        watermarkSeq: 5,
        lastRefreshedAtUs: T + 10,
        lastMemorySeenAtUs: T,
        revision: 1,
      });
      expect(await t.jobs.get(model.bankUid, job.id)).toMatchObject({
        status: "completed",
        details: { outcome: "content_written", failure_reason: null, mental_model_id: model.id },
      });
      const lost = t.store.commitRefresh(claimed!.claim, model, refreshed("late"), "content_written");
      await expect(lost).rejects.toMatchObject({ code: "conflict" });
      expect(await t.store.find(model.bankUid, model.id)).toMatchObject({ content: "answer" });
    });

    test("what a refresh saw never moves back", async () => {
      await using t = await open();
      const { model } = await insert(t, { watermarkSeq: 9, lastMemorySeenAtUs: T + 99 });
      const [claimed] = await claimAll(t);
      await t.store.commitRefresh(claimed!.claim, model, refreshed("answer", { memorySeenAtUs: null }), "content_written");
      expect(await t.store.find(model.bankUid, model.id)).toMatchObject({ watermarkSeq: 9, lastMemorySeenAtUs: T + 99 });
    });

    test("a refresh of a content that was cleared, or of a model that was made anew, is refused and writes nothing", async () => {
      await using t = await open();
      const { model } = await insert(t);
      const [claimed] = await claimAll(t);
      const { bankUid, id: modelId } = model;
      const commit = () => t.store.commitRefresh(claimed!.claim, model, refreshed("answer"), "content_written");
      await t.store.update(bankUid, modelId, clearMentalModel, T);
      await expect(commit()).rejects.toMatchObject({ reason: "MODEL_CHANGED" });
      await t.store.delete(bankUid, modelId);
      await expect(commit()).rejects.toMatchObject({ reason: "MENTAL_MODEL_NOT_FOUND" });
      await t.store.insert({ ...model, createdAtUs: T + 1 }, aRefresh(model));
      await expect(commit()).rejects.toMatchObject({ reason: "MODEL_CHANGED" });
      expect(await t.store.find(bankUid, modelId)).toMatchObject({ content: model.content });
      expect(await t.jobs.find(claimed!.job.id)).toMatchObject({ status: "processing" });
    });

    test("a failed refresh leaves the model and tells why", async () => {
      await using t = await open();
      const { model, job } = await insert(t);
      const [claimed] = await claimAll(t);
      await t.store.failRefresh(claimed!.claim, "delta_ops_all_skipped");
      expect(await t.store.find(model.bankUid, model.id)).toEqual(model);
      expect(await t.jobs.get(model.bankUid, job.id)).toMatchObject({
        status: "failed",
        details: {
          operation_type: "refresh_mental_model",
          outcome: "refresh_failed_delta_not_applied",
          failure_reason: "delta_ops_all_skipped",
        },
      });
    });

    test("deletes a model with its history and its waiting refresh", async () => {
      await using t = await open();
      const { model, job } = await insert(t, { lastRefreshedAtUs: T });
      await t.store.update(model.bankUid, model.id, clearMentalModel, T);
      expect(await t.store.delete(id(), model.id)).toBe(false);
      expect(await t.store.delete(model.bankUid, model.id)).toBe(true);
      expect(await t.store.delete(model.bankUid, model.id)).toBe(false);
      expect(await t.store.listVersions(model.bankUid, model.id)).toEqual([]);
      expect(await t.jobs.get(model.bankUid, job.id)).toMatchObject({ status: "cancelled" });
    });

    test("schedules are due once, the longest due first, and are set anew from the time of the look", async () => {
      await using t = await open();
      const hourly = { ...defaultTrigger, refreshCron: "0 * * * *" };
      const hourUs = 3_600_000_000;
      const { model } = await insert(t, { trigger: hourly, nextCronAtUs: T - hourUs });
      const { model: other } = await insert(t, { trigger: hourly, nextCronAtUs: T - 2 * hourUs });
      await insert(t, { trigger: hourly, nextCronAtUs: T + 1 });
      const due = (await t.store.listDue(T, 10)).filter(({ bankUid }) => [model.bankUid, other.bankUid].includes(bankUid));
      expect(due).toEqual([other, model].map(({ bankUid, id: modelId }) => ({ bankUid, id: modelId })));
      expect(await t.store.enqueueDue(due[1]!, aRefresh(model), T)).toMatchObject({ deduplicated: true });
      expect(await t.store.enqueueDue(due[1]!, aRefresh(model), T)).toBeUndefined();
      expect(await t.store.find(model.bankUid, model.id)).toMatchObject({ nextCronAtUs: T + hourUs });
    });

    test("finds the models that follow consolidation", async () => {
      await using t = await open();
      const bankUid = id();
      const automatic = { ...defaultTrigger, refreshAfterConsolidation: true };
      await insert(t, { bankUid, id: "b", trigger: automatic });
      await insert(t, { bankUid, id: "a", trigger: automatic });
      await insert(t, { bankUid, id: "c" });
      const found = await t.store.listRefreshedAfterConsolidation(bankUid);
      expect(found.map((model) => model.id).sort()).toEqual(["a", "b"]);
    });

    test("a fenced bank is empty and takes nothing for ever; purging ends with nothing left", async () => {
      await using t = await open();
      const automatic = { ...defaultTrigger, refreshAfterConsolidation: true };
      const { model } = await insert(t, { lastRefreshedAtUs: T, tags: ["x"], trigger: automatic, nextCronAtUs: T });
      const { bankUid, id: modelId } = model;
      const [claimed] = await claimAll(t);
      await t.store.update(bankUid, modelId, (one) => ({ ...one, content: "later" }), T);
      expect(await t.store.fence(bankUid)).toBe(1);
      expect(await t.store.fence(bankUid)).toBe(0);
      const empty = async () => {
        expect(await t.store.find(bankUid, modelId)).toBeUndefined();
        expect(await listIds(t, bankUid)).toEqual({ ids: [], total: 0 });
        expect(await t.store.countTags(bankUid)).toEqual([]);
        expect(await t.store.listVersions(bankUid, modelId)).toEqual([]);
        expect(await t.store.listRefreshedAfterConsolidation(bankUid)).toEqual([]);
        expect((await t.store.listDue(T, 1_000)).filter((due) => due.bankUid === bankUid)).toEqual([]);
        expect(await t.store.update(bankUid, modelId, (one) => one, T)).toBeUndefined();
        expect(await t.store.delete(bankUid, modelId)).toBe(false);
        expect(await t.store.enqueueRefresh(modelId, aRefresh(model))).toBeUndefined();
        expect(await t.store.enqueueDue({ bankUid, id: modelId }, aRefresh(model), T)).toBeUndefined();
        const gone = { code: "not_found", reason: "BANK_NOT_FOUND" };
        await expect(t.store.insert(aModel({ bankUid }), aRefresh(model))).rejects.toMatchObject(gone);
        const late = t.store.commitRefresh(claimed!.claim, model, refreshed("late"), "content_written");
        await expect(late).rejects.toMatchObject(gone);
      };
      await empty();
      for (let calls = 0; !(await t.store.purge(bankUid)); calls++) expect(calls).toBeLessThan(10);
      await empty();
      const { model: alive } = await insert(t);
      await t.store.purge(alive.bankUid);
      expect(await t.store.find(alive.bankUid, alive.id)).toBeDefined();
    });
  });
}
