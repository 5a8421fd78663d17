import { describe, expect, test } from "vitest";
import type { FactFamily } from "./domain/fact.ts";
import type { VectorHit, VectorIndex, VectorRow } from "./vector-index.ts";

/** Of the vectors that the suite uses; `open` gives an index for them. */
export const TEST_DIMENSIONS = 24;

export interface OpenedVectorIndex extends AsyncDisposable {
  readonly index: VectorIndex;
  /** Waits until what was written can be found, where that takes time of its own. */
  readonly settle?: () => Promise<void>;
}

const everything = { limit: 1000, minScore: -1 };

/** What every adapter of `VectorIndex` must hold. `open` may give a shared index: each test has banks of its own. */
export function describeVectorIndex(name: string, open: () => Promise<OpenedVectorIndex>): void {
  describe(`VectorIndex: ${name}`, () => {
    test("answers the nearest units first, no more than the limit, none below the minimum", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids = await fill(t, bank, [0.9, 0.5, 0.7, 0.1, -0.6]);
      expect(await t.index.search(bank, axis(0), everything)).toEqual(hits(ids, [0.9, 0.7, 0.5, 0.1, -0.6], [0, 2, 1, 3, 4]));
      expect(await t.index.search(bank, axis(0), { limit: 2, minScore: -1 })).toEqual(hits(ids, [0.9, 0.7], [0, 2]));
      expect(await t.index.search(bank, axis(0), { limit: 9, minScore: 0.3 })).toEqual(hits(ids, [0.9, 0.7, 0.5], [0, 2, 1]));
      expect(await t.index.search(bank, axis(0), { limit: 0, minScore: -1 })).toEqual([]);
    });

    test("equal scores come by ascending unit id, at the limit too", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids = Array.from({ length: 40 }, () => crypto.randomUUID());
      await t.index.upsert(
        bank,
        ids.map((unitId) => ({ unitId, family: "world", vector: axis(3) })),
      );
      await t.settle?.();
      const found = await t.index.search(bank, axis(3), everything);
      expect(found.map((hit) => hit.unitId)).toEqual(ids.toSorted());
      const few = await t.index.search(bank, axis(3), { limit: 7, minScore: 0.5 });
      expect(few.map((hit) => hit.unitId)).toEqual(ids.toSorted().slice(0, 7));
    });

    test("never shows another bank's units, whatever the ids look like", async () => {
      await using t = await open();
      const lower = `bank-${crypto.randomUUID()}`;
      const upper = lower.toUpperCase();
      const shared = crypto.randomUUID();
      await t.index.upsert(lower, [{ unitId: shared, family: "world", vector: axis(0) }]);
      await t.index.upsert(upper, [{ unitId: shared, family: "observation", vector: axis(1) }]);
      await t.settle?.();
      expect(await t.index.search(lower, axis(0), everything)).toEqual([hit(shared, 1)]);
      expect(await t.index.search(upper, axis(0), everything)).toEqual([hit(shared, 0)]);
      expect(rounded(await t.index.scores(upper, axis(1), [shared]))).toEqual([[shared, 1]]);
      expect((await t.index.get(lower, [shared])).get(shared)).toEqual(axis(0));
      await t.index.remove(lower, [shared]);
      await t.settle?.();
      expect(await t.index.count(lower)).toBe(0);
      expect(await t.index.count(upper)).toBe(1);
      expect(await t.index.search(upper, axis(1), everything)).toEqual([hit(shared, 1)]);
    });

    test("considers only the families and only the units that are asked for", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const families: FactFamily[] = ["world", "experience", "observation", "world"];
      const ids = await fill(t, bank, [0.9, 0.8, 0.7, 0.6], families);
      const ask = async (filter: object): Promise<number[]> => {
        const found = await t.index.search(bank, axis(0), { ...everything, ...filter });
        return found.map((one) => ids.indexOf(one.unitId));
      };
      expect(await ask({ families: ["world"] })).toEqual([0, 3]);
      expect(await ask({ families: ["observation", "experience"] })).toEqual([1, 2]);
      expect(await ask({ families: [] })).toEqual([]);
      expect(await ask({ only: new Set([ids[3], ids[1], crypto.randomUUID()]) })).toEqual([1, 3]);
      expect(await ask({ only: new Set() })).toEqual([]);
      expect(await ask({ families: ["world"], only: new Set([ids[1], ids[3]]) })).toEqual([3]);
      expect(await ask({ families: ["world"], limit: 1 })).toEqual([0]);
    });

    test("a small choice among many units finds exactly those", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const cosines = Array.from({ length: 120 }, (_, i) => 0.9 - i * 0.01);
      const ids = await fill(t, bank, cosines);
      const found = await t.index.search(bank, axis(0), { ...everything, only: new Set([ids[100]!, ids[7]!, ids[55]!]) });
      expect(found).toEqual(hits(ids, [cosines[7]!, cosines[55]!, cosines[100]!], [7, 55, 100]));
    });

    test("writing a unit again replaces its vector and family; the last row of a call counts", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const unitId = crypto.randomUUID();
      await t.index.upsert(bank, [{ unitId, family: "world", vector: axis(0) }]);
      await t.index.search(bank, axis(0), everything);
      const again: VectorRow[] = [
        { unitId, family: "world", vector: axis(1) },
        { unitId, family: "observation", vector: axis(2) },
      ];
      await t.index.upsert(bank, again);
      await t.index.upsert(bank, again);
      await t.settle?.();
      expect(await t.index.count(bank)).toBe(1);
      expect(await t.index.search(bank, axis(2), everything)).toEqual([hit(unitId, 1)]);
      expect(await t.index.search(bank, axis(2), { ...everything, families: ["world"] })).toEqual([]);
      expect((await t.index.get(bank, [unitId])).get(unitId)).toEqual(axis(2));
    });

    test("a removed unit is gone; removing it again, or one that never was, does nothing", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids = await fill(t, bank, [0.9, 0.8, 0.7]);
      await t.index.search(bank, axis(0), everything);
      for (let time = 0; time < 2; time++) await t.index.remove(bank, [ids[0]!, crypto.randomUUID()]);
      await t.settle?.();
      expect(await t.index.search(bank, axis(0), everything)).toEqual(hits(ids, [0.8, 0.7], [1, 2]));
      expect(await t.index.count(bank)).toBe(2);
      await t.index.remove(crypto.randomUUID(), ids);
      expect(await t.index.count(bank)).toBe(2);
    });

    test("scores and get answer for the units that the bank holds", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids = await fill(t, bank, [0.5, -0.25]);
      const absent = crypto.randomUUID();
      expect(rounded(await t.index.scores(bank, axis(0), [ids[1]!, absent, ids[0]!]))).toEqual([
        [ids[1], -0.25],
        [ids[0], 0.5],
      ]);
      const found = await t.index.get(bank, [absent, ids[0]!]);
      expect([...found.keys()]).toEqual([ids[0]]);
      const vector = found.get(ids[0]!)!;
      expect(vector).toHaveLength(TEST_DIMENSIONS);
      vector.forEach((value, i) => {
        expect(value).toBeCloseTo(near(0.5, 0)[i]!, 5);
      });
    });

    test("vectors are copied in and out", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const unitId = crypto.randomUUID();
      const vector = axis(0);
      const written = t.index.upsert(bank, [{ unitId, family: "world", vector }]);
      vector.fill(0);
      await written;
      await t.settle?.();
      (await t.index.get(bank, [unitId])).get(unitId)!.fill(0);
      expect(await t.index.search(bank, axis(0), everything)).toEqual([hit(unitId, 1)]);
    });

    test("a zero vector has similarity 0 to everything", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids = await fill(t, bank, [0.5]);
      const zero = crypto.randomUUID();
      await t.index.upsert(bank, [{ unitId: zero, family: "world", vector: new Float32Array(TEST_DIMENSIONS) }]);
      await t.settle?.();
      expect(await t.index.search(bank, axis(0), everything)).toEqual([hit(ids[0]!, 0.5), hit(zero, 0)]);
      expect(rounded(await t.index.scores(bank, new Float32Array(TEST_DIMENSIONS), [ids[0]!]))).toEqual([[ids[0], 0]]);
    });

    test("refuses vectors of another length or without a finite number, and does nothing of the call", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const refused = { code: "invalid_argument" };
      const good: VectorRow = { unitId: crypto.randomUUID(), family: "world", vector: axis(0) };
      const odd = axis(0);
      odd[3] = Number.NaN;
      for (const vector of [new Float32Array(TEST_DIMENSIONS - 1), new Float32Array(0), odd]) {
        await expect(t.index.upsert(bank, [good, { ...good, unitId: crypto.randomUUID(), vector }])).rejects.toMatchObject(
          refused,
        );
        await expect(t.index.search(bank, vector, everything)).rejects.toMatchObject(refused);
        await expect(t.index.scores(bank, vector, [])).rejects.toMatchObject(refused);
      }
      expect(await t.index.count(bank)).toBe(0);
    });

    test("a bank that was never written is an empty bank", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const unitId = crypto.randomUUID();
      expect(await t.index.search(bank, axis(0), everything)).toEqual([]);
      expect(await t.index.scores(bank, axis(0), [unitId])).toEqual(new Map());
      expect(await t.index.get(bank, [unitId])).toEqual(new Map());
      expect(await t.index.count(bank)).toBe(0);
      expect(await collect(t.index.unitIds(bank))).toEqual([]);
      await t.index.remove(bank, [unitId]);
      await t.index.upsert(bank, []);
      await t.index.dropBank(bank);
    });

    test("unitIds names every unit once, over many pages", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids = Array.from({ length: 4500 }, () => crypto.randomUUID());
      for (let start = 0; start < ids.length; start += 500) {
        const rows = ids
          .slice(start, start + 500)
          .map((unitId, i): VectorRow => ({ unitId, family: "world", vector: axis(i % 5) }));
        await t.index.upsert(bank, rows);
      }
      await fill(t, crypto.randomUUID(), [0.5]);
      const found = await collect(t.index.unitIds(bank));
      expect(found.toSorted()).toEqual(ids.toSorted());
    });

    test("dropBank leaves nothing of the bank and all of the others; the bank can be filled again", async () => {
      await using t = await open();
      const [bank, other] = [crypto.randomUUID(), crypto.randomUUID()];
      const ids = await fill(
        t,
        bank,
        Array.from({ length: 2500 }, (_, i) => 1 - i / 2500),
      );
      const kept = await fill(t, other, [0.5]);
      await t.index.search(bank, axis(0), everything);
      await t.index.dropBank(bank);
      expect(await t.index.count(bank)).toBe(0);
      expect(await t.index.search(bank, axis(0), everything)).toEqual([]);
      expect(await t.index.get(bank, ids.slice(0, 3))).toEqual(new Map());
      expect(await t.index.search(other, axis(0), everything)).toEqual([hit(kept[0]!, 0.5)]);
      const again = await fill(t, bank, [0.25]);
      expect(await t.index.search(bank, axis(0), everything)).toEqual([hit(again[0]!, 0.25)]);
    });

    test("writes and searches at once end in the state of all writes", async () => {
      await using t = await open();
      const bank = crypto.randomUUID();
      const ids: string[] = Array.from({ length: 200 }, () => crypto.randomUUID());
      await Promise.all(
        ids.map(async (unitId, i) => {
          await t.index.upsert(bank, [{ unitId, family: "world", vector: axis(i % 7) }]);
          const found = await t.index.search(bank, axis(i % 7), { ...everything, only: new Set([unitId]) });
          if (!t.settle) expect(found).toEqual([hit(unitId, 1)]);
          if (i % 2 === 1) await t.index.remove(bank, [unitId]);
        }),
      );
      await t.settle?.();
      expect(await t.index.count(bank)).toBe(100);
      const found = await t.index.search(bank, axis(0), everything);
      expect(found.map((one) => one.unitId).toSorted()).toEqual(ids.filter((_, i) => i % 2 === 0).toSorted());
      expect(found.every((one) => Math.abs(one.score - (ids.indexOf(one.unitId) % 7 === 0 ? 1 : 0)) < 1e-5)).toBe(true);
    });

    test("once disposed of, every method throws unavailable", async () => {
      const t = await open();
      const bank = crypto.randomUUID();
      const ids = await fill(t, bank, [0.5]);
      await t.index.search(bank, axis(0), everything);
      await t.index[Symbol.asyncDispose]();
      const refused = { code: "unavailable" };
      await expect(t.index.upsert(bank, [])).rejects.toMatchObject(refused);
      await expect(t.index.remove(bank, ids)).rejects.toMatchObject(refused);
      await expect(t.index.search(bank, axis(0), everything)).rejects.toMatchObject(refused);
      await expect(t.index.scores(bank, axis(0), ids)).rejects.toMatchObject(refused);
      await expect(t.index.get(bank, ids)).rejects.toMatchObject(refused);
      await expect(t.index.count(bank)).rejects.toMatchObject(refused);
      await expect(collect(t.index.unitIds(bank))).rejects.toMatchObject(refused);
      await expect(t.index.dropBank(bank)).rejects.toMatchObject(refused);
      await t[Symbol.asyncDispose]();
    });
  });
}

async function collect(ids: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const id of ids) all.push(id);
  return all;
}

/** The unit vector along one dimension. */
function axis(dimension: number): Float32Array {
  const vector = new Float32Array(TEST_DIMENSIONS);
  vector[dimension] = 1;
  return vector;
}

/** A unit vector with this cosine to `axis(dimension)`. */
function near(cosine: number, dimension: number): Float32Array {
  const vector = axis(dimension);
  vector[dimension] = cosine;
  vector[TEST_DIMENSIONS - 1] = Math.sqrt(1 - cosine * cosine);
  return vector;
}

/** Writes one unit per cosine to `axis(0)`; answers their ids in that order. */
async function fill(
  t: OpenedVectorIndex,
  bank: string,
  cosines: readonly number[],
  families: readonly FactFamily[] = [],
): Promise<string[]> {
  const rows = cosines.map(
    (cosine, i): VectorRow => ({ unitId: crypto.randomUUID(), family: families[i] ?? "world", vector: near(cosine, 0) }),
  );
  await t.index.upsert(bank, rows);
  await t.settle?.();
  return rows.map((row) => row.unitId);
}

function hit(unitId: string, score: number): VectorHit {
  return { unitId, score: expect.closeTo(score, 5) as unknown as number };
}

function hits(ids: readonly string[], scores: readonly number[], order: readonly number[]): VectorHit[] {
  return order.map((index, i) => hit(ids[index]!, scores[i]!));
}

function rounded(scores: ReadonlyMap<string, number>): [string, number][] {
  return [...scores].map(([unitId, score]) => [unitId, Math.round(score * 1e4) / 1e4 + 0]);
}
