import { describe, expect, test } from "vitest";
import type { BankRef } from "./domain/unit.ts";
import type { MemoryStore } from "./memory-store.ts";
import { expectTrueCounts } from "./store/recount.ts";
import {
  consolidationOf,
  editOf,
  newBank,
  newDocument,
  newEntity,
  newUnit,
  noConsequences,
  retainOf,
  tick,
} from "./store/test-units.ts";

export interface OpenedMemoryStore extends AsyncDisposable {
  readonly store: MemoryStore;
}

/** The contract of `MemoryStore`, for every adapter. Each test has banks of its own, so the suite may run on a shared server. */
export function describeMemoryStore(name: string, open: () => Promise<OpenedMemoryStore>): void {
  describe(`MemoryStore: ${name}`, () => {
    const everything = { limit: 1_000, offset: 0 };
    const valid = { state: "valid" as const, ...everything };
    const with_ = async (run: (store: MemoryStore, bank: BankRef) => Promise<void>) => {
      await using opened = await open();
      await run(opened.store, newBank());
    };

    test("a bank that was never written reads as empty", () =>
      with_(async (store, { bankUid }) => {
        expect(await store.seq(bankUid)).toBe(0);
        expect(await store.listUnits(bankUid, valid)).toEqual({ items: [], total: 0 });
        expect(await store.findUnit(bankUid, crypto.randomUUID())).toBeUndefined();
        expect((await store.stats(bankUid)).documents).toBe(0);
        expect(await store.changesSince(bankUid, 0)).toMatchObject({ seq: 0, upserts: [], removedUnitIds: [] });
        expect(await store.entityGraph(bankUid, 10, 1)).toEqual({ nodes: [], edges: [] });
      }));

    test("a retain is there whole after one commit, and counts agree", () =>
      with_(async (store, bank) => {
        const [maria, lisbon] = [newEntity("Maria"), newEntity("Lisbon", "LOCATION")];
        const document = newDocument({ documentId: "d1", tags: ["x"] });
        const chunk = { chunkId: crypto.randomUUID(), documentId: "d1", chunkIndex: 0, text: "text" };
        const units = [
          newUnit({ documentId: "d1", chunkId: chunk.chunkId, tags: ["x", "y"], entityIds: [maria.entityId, lisbon.entityId] }),
          newUnit({ documentId: "d1", chunkId: chunk.chunkId, tags: ["x"], entityIds: [maria.entityId], type: "preference" }),
        ];
        const links = [{ fromId: units[1]!.unitId, toId: units[0]!.unitId, type: "semantic" as const, weight: 0.8 }];
        const committed = await store.commitRetain(
          retainOf(bank, 0, { documents: [document], chunks: [chunk], entities: [maria, lisbon], units, links }),
        );
        expect(committed).toMatchObject({ seq: 1, removedUnitIds: [] });
        expect(await store.seq(bank.bankUid)).toBe(1);
        const { items } = await store.listUnits(bank.bankUid, valid);
        expect(items.map((unit) => unit.unitId)).toEqual([units[1]!.unitId, units[0]!.unitId]);
        expect(items[1]).toMatchObject({
          tags: ["x", "y"],
          documentId: "d1",
          entities: [{ name: "Lisbon", kind: "LOCATION" }, { name: "Maria" }],
        });
        expect(await store.findDocument(bank.bankUid, "d1")).toMatchObject({ originalText: "text", unitCount: 2, tags: ["x"] });
        expect(await store.getChunks(bank.bankUid, [chunk.chunkId])).toMatchObject([{ text: "text", documentId: "d1" }]);
        expect(await store.findChunk(bank.tenantId, chunk.chunkId)).toMatchObject({ bankId: "bank" });
        expect(await store.findChunk("another tenant", chunk.chunkId)).toBeUndefined();
        await expectTrueCounts(store, bank.bankUid);
      }));

    test("a plan that read an older commit is refused, and nothing of it is written", () =>
      with_(async (store, bank) => {
        await store.commitRetain(retainOf(bank, 0, { units: [newUnit()] }));
        const stale = retainOf(bank, 0, { units: [newUnit()], documents: [newDocument({ documentId: "late" })] });
        await expect(store.commitRetain(stale)).rejects.toMatchObject({ code: "conflict", reason: "SEQ_MOVED" });
        expect((await store.listUnits(bank.bankUid, valid)).total).toBe(1);
        expect(await store.findDocument(bank.bankUid, "late")).toBeUndefined();
      }));

    test("of two writers with the same plan one wins", () =>
      with_(async (store, bank) => {
        const plans = [0, 1, 2, 3].map(() => store.commitRetain(retainOf(bank, 0, { units: [newUnit()] })));
        const outcomes = await Promise.allSettled(plans);
        expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
        expect((await store.listUnits(bank.bankUid, valid)).total).toBe(1);
      }));

    test("a document that exists is replaced, keeps its creation instant, and takes its observations with it", () =>
      with_(async (store, bank) => {
        const old = newUnit({ documentId: "d", tags: ["old"] });
        const other = newUnit();
        await store.commitRetain(retainOf(bank, 0, { documents: [newDocument({ documentId: "d" })], units: [old, other] }));
        const observation = newUnit({ type: "observation", sourceUnitIds: [old.unitId, other.unitId], proofCount: 2 });
        await store.commitConsolidation(consolidationOf(bank, 1, { creates: [observation], done: [old.unitId, other.unitId] }));
        const created = (await store.findDocument(bank.bankUid, "d"))!.createdAtUs;
        const fresh = newUnit({ documentId: "d" });
        const { removedUnitIds } = await store.commitRetain(
          retainOf(bank, 2, { documents: [newDocument({ documentId: "d", originalText: "new" })], units: [fresh] }),
        );
        expect([...removedUnitIds].sort()).toEqual([old.unitId, observation.unitId].sort());
        expect(await store.findDocument(bank.bankUid, "d")).toMatchObject({
          originalText: "new",
          createdAtUs: created,
          unitCount: 1,
        });
        expect(await store.findUnit(bank.bankUid, old.unitId)).toBeUndefined();
        expect(await store.findUnit(bank.bankUid, other.unitId)).toMatchObject({ consolidatedAtUs: undefined });
        await expectTrueCounts(store, bank.bankUid);
      }));

    test("units are listed by when they were said, those without an instant last, then by creation and id", () =>
      with_(async (store, bank) => {
        const at = tick();
        const units = [
          newUnit({ mentionedAtUs: undefined, createdAtUs: at, unitId: "00000000-0000-4000-8000-000000000001" }),
          newUnit({ mentionedAtUs: at, createdAtUs: at, unitId: "00000000-0000-4000-8000-000000000002" }),
          newUnit({ mentionedAtUs: at, createdAtUs: at, unitId: "00000000-0000-4000-8000-000000000003" }),
          newUnit({ mentionedAtUs: at, createdAtUs: at + 1, unitId: "00000000-0000-4000-8000-000000000004" }),
        ];
        await store.commitRetain(retainOf(bank, 0, { units }));
        const { items } = await store.listUnits(bank.bankUid, valid);
        expect(items.map((unit) => unit.unitId.at(-1))).toEqual(["4", "3", "2", "1"]);
        const page = await store.listUnits(bank.bankUid, { state: "valid", limit: 2, offset: 1 });
        expect(page.items.map((unit) => unit.unitId.at(-1))).toEqual(["3", "2"]);
        expect(page.total).toBe(4);
        expect(await store.listUnits(bank.bankUid, { state: "valid", limit: 0, offset: 0 })).toEqual({ items: [], total: 4 });
        expect(await store.listUnits(bank.bankUid, { state: "valid", limit: 5, offset: 9 })).toEqual({ items: [], total: 4 });
      }));

    test("lists filter by words, prefix, literal part, type, document, entity and tags", () =>
      with_(async (store, bank) => {
        const entity = newEntity("Zoë");
        const units = [
          newUnit({ text: "alpha beta", searchTokens: ["alpha", "beta"], tags: ["T"], entityIds: [entity.entityId] }),
          newUnit({ text: "alpha 東京", searchTokens: ["alpha", "東京"], type: "preference" }),
          newUnit({ text: "สวัสดี 100% -- ok", searchTokens: ["สวัสดี", "100", "ok"], documentId: "d" }),
        ];
        await store.commitRetain(retainOf(bank, 0, { documents: [newDocument({ documentId: "d" })], entities: [entity], units }));
        const found = async (query: object) =>
          (await store.listUnits(bank.bankUid, { ...valid, ...query })).items
            .map((unit) => units.findIndex((own) => own.unitId === unit.unitId))
            .sort();
        expect(await found({ words: { all: ["alpha"] } })).toEqual([0, 1]);
        expect(await found({ words: { all: ["alpha", "beta"] } })).toEqual([0]);
        expect(await found({ words: { all: [], prefix: "al" } })).toEqual([0, 1]);
        expect(await found({ words: { all: ["東京"] } })).toEqual([1]);
        expect(await found({ words: { all: ["สวัสดี"] } })).toEqual([2]);
        expect(await found({ words: { all: ['be" OR bank:b1'] } })).toEqual([]);
        expect(await found({ substring: "--" })).toEqual([2]);
        expect(await found({ substring: "%" })).toEqual([2]);
        expect(await found({ type: "preference" })).toEqual([1]);
        expect(await found({ type: "opinion" })).toEqual([]);
        expect(await found({ documentId: "d" })).toEqual([2]);
        expect(await found({ entityId: entity.entityId })).toEqual([0]);
        expect(await found({ tags: { tags: ["T"], tagsMatch: "all_strict" } })).toEqual([0]);
        expect(await found({ tags: { tags: ["t"], tagsMatch: "any_strict" } })).toEqual([]);
        expect(await found({ tags: { tags: [], tagsMatch: "exact" } })).toEqual([1, 2]);
      }));

    test("nothing of another bank is ever seen", () =>
      with_(async (store, bank) => {
        const stranger = newBank();
        const unit = newUnit({ text: "secret", searchTokens: ["secret"], tags: ["s"] });
        await store.commitRetain(retainOf(stranger, 0, { units: [unit], documents: [newDocument({ documentId: "d" })] }));
        await store.commitRetain(retainOf(bank, 0, { units: [newUnit()] }));
        expect(await store.findUnit(bank.bankUid, unit.unitId)).toBeUndefined();
        expect((await store.listUnits(bank.bankUid, { ...valid, words: { all: ["secret"] } })).total).toBe(0);
        expect((await store.listTags(bank.bankUid, undefined, everything)).total).toBe(0);
        expect(await store.getUnits(bank.bankUid, [unit.unitId])).toEqual([]);
        expect(await store.summaries(bank.bankUid, [unit.unitId])).toEqual([]);
        await expect(store.deleteDocument(bank, "d", tick(), noConsequences)).rejects.toMatchObject({ code: "not_found" });
        await expect(store.editUnit(editOf(bank, unit.unitId, { text: "mine" }))).rejects.toMatchObject({ code: "not_found" });
      }));

    test("ids and tags compare byte for byte, entity names ignore case", () =>
      with_(async (store, bank) => {
        const entity = newEntity("Straße");
        const units = [newUnit({ tags: ["A", "a"], documentId: "Doc" }), newUnit({ tags: ["a"], documentId: "doc" })];
        const documents = [newDocument({ documentId: "Doc" }), newDocument({ documentId: "doc" })];
        await store.commitRetain(retainOf(bank, 0, { documents, units, entities: [entity] }));
        expect((await store.listTags(bank.bankUid, undefined, everything)).items).toEqual([
          { tag: "a", count: 2 },
          { tag: "A", count: 1 },
        ]);
        expect((await store.listTags(bank.bankUid, "A", everything)).total).toBe(2);
        expect((await store.listDocuments(bank.bankUid, everything)).total).toBe(2);
        const twin = retainOf(bank, 1, { entities: [newEntity("STRASSE")] });
        await expect(store.commitRetain(twin)).rejects.toMatchObject({ code: expect.stringMatching(/already_exists|conflict/) });
      }));

    test("tag patterns are anchored, ignore case, and only the asterisk is special", () =>
      with_(async (store, bank) => {
        await store.commitRetain(retainOf(bank, 0, { units: [newUnit({ tags: ["user:maria", "USER", "a.c", "abc", "x%y"] })] }));
        const found = async (pattern: string) =>
          (await store.listTags(bank.bankUid, pattern, everything)).items.map((item) => item.tag).sort();
        expect(await found("user")).toEqual(["USER"]);
        expect(await found("*user*")).toEqual(["USER", "user:maria"]);
        expect(await found("a.c")).toEqual(["a.c"]);
        expect(await found("*%*")).toEqual(["x%y"]);
        expect(await found("u*m*a")).toEqual(["user:maria"]);
      }));

    test("an edit changes what was sent, drops derived observations and asks for consolidation again", () =>
      with_(async (store, bank) => {
        const [anna, ben] = [newEntity("Anna"), newEntity("Ben")];
        const unit = newUnit({ entityIds: [anna.entityId], tags: ["t"] });
        const other = newUnit({ entityIds: [anna.entityId] });
        await store.commitRetain(
          retainOf(bank, 0, {
            entities: [anna],
            units: [unit, other],
            links: [{ fromId: unit.unitId, toId: other.unitId, type: "temporal", weight: 1 }],
          }),
        );
        const observation = newUnit({
          type: "observation",
          sourceUnitIds: [unit.unitId, other.unitId],
          entityIds: [anna.entityId],
        });
        await store.commitConsolidation(consolidationOf(bank, 1, { creates: [observation], done: [unit.unitId, other.unitId] }));
        const edited = await store.editUnit(
          editOf(bank, unit.unitId, {
            text: "changed",
            type: "preference",
            entities: { created: [ben], entityIds: [ben.entityId] },
            searchTokens: ["changed"],
            links: [],
          }),
        );
        expect(edited.removedUnitIds).toContain(observation.unitId);
        expect(await store.findUnit(bank.bankUid, unit.unitId)).toMatchObject({
          text: "changed",
          type: "preference",
          context: unit.context,
          tags: ["t"],
          entities: [{ name: "Ben" }],
          consolidatedAtUs: undefined,
          editedAtUs: expect.any(Number),
        });
        expect(await store.findUnit(bank.bankUid, other.unitId)).toMatchObject({ consolidatedAtUs: undefined });
        expect((await store.listUnits(bank.bankUid, { ...valid, words: { all: ["changed"] } })).total).toBe(1);
        await expectTrueCounts(store, bank.bankUid);
        await expect(store.editUnit(editOf(bank, crypto.randomUUID(), {}))).rejects.toMatchObject({ code: "not_found" });
      }));

    test("observations cannot be edited", () =>
      with_(async (store, bank) => {
        const unit = newUnit();
        await store.commitRetain(retainOf(bank, 0, { units: [unit] }));
        const observation = newUnit({ type: "observation", sourceUnitIds: [unit.unitId] });
        await store.commitConsolidation(consolidationOf(bank, 1, { creates: [observation], done: [unit.unitId] }));
        const edit = store.editUnit(editOf(bank, observation.unitId, { text: "no" }));
        await expect(edit).rejects.toMatchObject({ code: "invalid_argument", reason: "OBSERVATION_IMMUTABLE" });
      }));

    test("an invalidated unit leaves every read but its own, keeps its causal links, and comes back", () =>
      with_(async (store, bank) => {
        const anna = newEntity("Anna");
        const cause = newUnit({ entityIds: [anna.entityId] });
        const effect = newUnit({ entityIds: [anna.entityId], tags: ["t"] });
        const links = [{ fromId: effect.unitId, toId: cause.unitId, type: "caused_by" as const, weight: 1 }];
        await store.commitRetain(retainOf(bank, 0, { entities: [anna], units: [cause, effect], links }));
        await store.editUnit(editOf(bank, cause.unitId, { state: "invalidated", reason: "wrong" }));
        expect(await store.findUnit(bank.bankUid, cause.unitId)).toMatchObject({
          state: "invalidated",
          invalidationReason: "wrong",
        });
        expect((await store.listUnits(bank.bankUid, valid)).total).toBe(1);
        expect((await store.listUnits(bank.bankUid, { ...valid, state: "invalidated" })).items).toMatchObject([
          { unitId: cause.unitId },
        ]);
        expect((await store.changesSince(bank.bankUid, 1)).removedUnitIds).toEqual([cause.unitId]);
        await expectTrueCounts(store, bank.bankUid);
        await store.editUnit(editOf(bank, cause.unitId, { state: "valid", searchTokens: ["maria"], links: [] }));
        expect(await store.findUnit(bank.bankUid, cause.unitId)).toMatchObject({ state: "valid", invalidationReason: undefined });
        expect((await store.stats(bank.bankUid)).links.get("world")?.get("caused_by")).toBe(1);
        await expectTrueCounts(store, bank.bankUid);
      }));

    test("clearing a family, the observations, or everything", () =>
      with_(async (store, bank) => {
        const [a, b, c] = [newUnit(), newUnit({ type: "experience" }), newUnit({ type: "preference" })];
        await store.commitRetain(retainOf(bank, 0, { documents: [newDocument()], units: [a, b, c] }));
        await store.commitConsolidation(
          consolidationOf(bank, 1, {
            creates: [newUnit({ type: "observation", sourceUnitIds: [b.unitId] })],
            done: [a.unitId, b.unitId, c.unitId],
          }),
        );
        expect(await store.clearObservations(bank, undefined, tick(), noConsequences)).toMatchObject({ deletedCount: 1 });
        expect((await store.stats(bank.bankUid)).pendingConsolidation).toBe(3);
        expect(await store.clearUnits(bank, "world", tick(), noConsequences)).toMatchObject({ deletedCount: 2 });
        await expectTrueCounts(store, bank.bankUid);
        expect(await store.clearUnits(bank, undefined, tick(), noConsequences)).toMatchObject({ deletedCount: 1 });
        expect((await store.stats(bank.bankUid)).documents).toBe(0);
        await expectTrueCounts(store, bank.bankUid);
      }));

    test("retagging a document retags its units and drops what was built on them", () =>
      with_(async (store, bank) => {
        const unit = newUnit({ documentId: "d", tags: ["a"] });
        await store.commitRetain(
          retainOf(bank, 0, { documents: [newDocument({ documentId: "d", tags: ["a"] })], units: [unit] }),
        );
        await store.commitConsolidation(
          consolidationOf(bank, 1, {
            creates: [newUnit({ type: "observation", tags: ["a"], sourceUnitIds: [unit.unitId] })],
            done: [unit.unitId],
          }),
        );
        expect(await store.retagDocument(bank, "d", ["b", "c"], tick(), noConsequences)).toMatchObject({ updatedCount: 1 });
        expect(await store.findUnit(bank.bankUid, unit.unitId)).toMatchObject({ tags: ["b", "c"], consolidatedAtUs: undefined });
        await expectTrueCounts(store, bank.bankUid);
      }));

    test("consolidation creates, updates with history, supersedes and deletes; done and failed units are counted", () =>
      with_(async (store, bank) => {
        const units = [newUnit({ text: "one" }), newUnit({ text: "two" }), newUnit({ text: "three" })];
        await store.commitRetain(retainOf(bank, 0, { units }));
        const [one, two, three] = units.map((unit) => unit.unitId) as [string, string, string];
        const observation = newUnit({ type: "observation", text: "before", sourceUnitIds: [one], tags: ["o"] });
        await store.commitConsolidation(consolidationOf(bank, 1, { creates: [observation], done: [one], failed: [three] }));
        expect(await store.stats(bank.bankUid)).toMatchObject({ pendingConsolidation: 1, failedConsolidation: 1 });
        expect((await store.pendingUnits(bank.bankUid, 10, new Set())).map((unit) => unit.unitId)).toEqual([two]);
        expect(await store.pendingUnits(bank.bankUid, 10, new Set([two]))).toEqual([]);
        await store.commitConsolidation(
          consolidationOf(bank, 2, {
            updates: [
              {
                unitId: observation.unitId,
                text: "after",
                tags: ["o", "p"],
                occurredStartUs: undefined,
                occurredEndUs: undefined,
                mentionedAtUs: observation.mentionedAtUs,
                sourceUnitIds: [one, two],
                newSourceIds: [two],
                entityIds: [],
                features: observation.features,
                tokenCount: 1,
                searchTokens: ["after"],
              },
            ],
            done: [two],
            supersedes: [{ unitId: one, byId: two }],
          }),
        );
        expect(await store.findUnit(bank.bankUid, observation.unitId)).toMatchObject({
          text: "after",
          proofCount: 2,
          tags: ["o", "p"],
        });
        expect(await store.findUnit(bank.bankUid, one)).toMatchObject({ supersededBy: [two] });
        expect(await store.history(bank.bankUid, observation.unitId)).toMatchObject([
          {
            previousText: "before",
            previousTags: ["o"],
            newSourceIds: [two],
            sourceFacts: [
              { text: "one", isNew: false },
              { text: "two", isNew: true },
            ],
          },
        ]);
        expect(await store.observationScopes(bank.bankUid)).toEqual([{ tags: ["o", "p"], count: 1 }]);
        await expectTrueCounts(store, bank.bankUid);
        expect(await store.recoverFailed(bank, tick(), noConsequences)).toEqual({ retriedCount: 1 });
        const seq = await store.seq(bank.bankUid);
        await store.commitConsolidation(consolidationOf(bank, seq, { deletes: [observation.unitId] }));
        expect(await store.findUnit(bank.bankUid, observation.unitId)).toBeUndefined();
        await expectTrueCounts(store, bank.bankUid);
      }));

    test("an observation without a live source is not written", () =>
      with_(async (store, bank) => {
        await store.commitRetain(retainOf(bank, 0, { units: [newUnit()] }));
        await store.commitConsolidation(
          consolidationOf(bank, 1, { creates: [newUnit({ type: "observation", sourceUnitIds: [crypto.randomUUID()] })] }),
        );
        expect((await store.stats(bank.bankUid)).nodesByType.get("observation")).toBeUndefined();
      }));

    test("changes since a commit are what an index at that commit lacks", () =>
      with_(async (store, bank) => {
        const [a, b] = [newUnit(), newUnit({ documentId: "d" })];
        await store.commitRetain(retainOf(bank, 0, { units: [a] }));
        await store.commitRetain(retainOf(bank, 1, { documents: [newDocument({ documentId: "d" })], units: [b] }));
        expect((await store.changesSince(bank.bankUid, 0)).upserts.map((record) => record.unitId).sort()).toEqual(
          [a.unitId, b.unitId].sort(),
        );
        expect(await store.changesSince(bank.bankUid, 1)).toMatchObject({
          seq: 2,
          isComplete: false,
          upserts: [{ unitId: b.unitId }],
          removedUnitIds: [],
        });
        expect(await store.changesSince(bank.bankUid, 2)).toMatchObject({ seq: 2, upserts: [], removedUnitIds: [] });
        await store.deleteDocument(bank, "d", tick(), noConsequences);
        expect(await store.changesSince(bank.bankUid, 2)).toMatchObject({ seq: 3, upserts: [], removedUnitIds: [b.unitId] });
      }));

    test("nearest in time: same family, within the window, nearest first", () =>
      with_(async (store, bank) => {
        const at = 1_600_000_000_000_000;
        const hour = 3_600_000_000;
        const units = [-30, -2, 1, 5, 40].map((hours) => newUnit({ mentionedAtUs: at + hours * hour }));
        await store.commitRetain(retainOf(bank, 0, { units: [...units, newUnit({ mentionedAtUs: at, type: "experience" })] }));
        const near = await store.nearestInTime(bank.bankUid, "world", at, 24 * hour, 20);
        expect(near.map((unit) => (unit.eventUs - at) / hour)).toEqual([1, -2, 5]);
        expect(await store.nearestInTime(bank.bankUid, "world", at, 24 * hour, 1)).toHaveLength(2);
      }));

    test("scope changes: counted by tags and types after a commit, newest change, missing citations", () =>
      with_(async (store, bank) => {
        const first = newUnit({ tags: ["a"] });
        await store.commitRetain(retainOf(bank, 0, { units: [first] }));
        await store.commitRetain(
          retainOf(bank, 1, { units: [newUnit({ tags: ["a"] }), newUnit({ tags: ["b"], type: "experience" })] }),
        );
        const scope = {
          tags: { tags: ["a"], tagsMatch: "all_strict" as const },
          types: undefined,
          sinceSeq: 1,
          citedIds: [first.unitId, "gone"],
        };
        expect(await store.scopeChanges(bank.bankUid, scope)).toMatchObject({
          changedCount: 1,
          missingIds: ["gone"],
          newestUpdatedAtUs: expect.any(Number),
        });
        expect(await store.scopeChanges(bank.bankUid, { ...scope, tags: {}, types: ["experience"] })).toMatchObject({
          changedCount: 1,
        });
        expect(await store.scopeChanges(bank.bankUid, { ...scope, sinceSeq: 2 })).toMatchObject({ changedCount: 0 });
      }));

    test("activity names the written banks of the tenant", () =>
      with_(async (store, bank) => {
        await store.commitRetain(retainOf(bank, 0, { documents: [newDocument()], units: [newUnit(), newUnit()] }));
        expect(await store.activity(bank.tenantId, undefined)).toMatchObject([
          { bankUid: bank.bankUid, factCount: 2, lastDocumentAtUs: expect.any(Number) },
        ]);
        expect(await store.activity(bank.tenantId, ["another"])).toEqual([]);
        expect(await store.activity("another tenant", undefined)).toEqual([]);
      }));

    test("a fenced bank reads as empty at once, refuses writes, and is purged to the last row", () =>
      with_(async (store, bank) => {
        const entity = newEntity("Anna");
        const chunk = { chunkId: crypto.randomUUID(), documentId: "d", chunkIndex: 0, text: "t" };
        const units = [
          newUnit({ documentId: "d", entityIds: [entity.entityId], tags: ["t"] }),
          newUnit({ entityIds: [entity.entityId] }),
        ];
        await store.commitRetain(
          retainOf(bank, 0, { documents: [newDocument({ documentId: "d" })], chunks: [chunk], entities: [entity], units }),
        );
        expect(await store.fence(bank.bankUid)).toBe(2);
        expect(await store.fence(bank.bankUid)).toBe(0);
        expect(await store.listUnits(bank.bankUid, valid)).toEqual({ items: [], total: 0 });
        expect(await store.findChunk(bank.tenantId, chunk.chunkId)).toBeUndefined();
        expect(await store.activity(bank.tenantId, undefined)).toEqual([]);
        await expect(store.commitRetain(retainOf(bank, 1, { units: [newUnit()] }))).rejects.toMatchObject({
          code: "cancelled",
          reason: "BANK_FENCED",
        });
        for (let calls = 0; !(await store.purge(bank.bankUid)); calls++) expect(calls).toBeLessThan(100);
        expect(await store.purge(bank.bankUid)).toBe(true);
        await expect(store.commitRetain(retainOf(bank, 0, { units: [newUnit()] }))).rejects.toMatchObject({ code: "cancelled" });
      }));

    test("a bank that was fenced before its first write refuses it", () =>
      with_(async (store, bank) => {
        expect(await store.fence(bank.bankUid)).toBe(0);
        await expect(store.commitRetain(retainOf(bank, 0))).rejects.toMatchObject({ code: "cancelled", reason: "BANK_FENCED" });
      }));
  });
}
