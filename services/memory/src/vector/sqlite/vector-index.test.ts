import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { describeVectorIndex, type OpenedVectorIndex, TEST_DIMENSIONS } from "../../vector-index.conformance.ts";
import type { VectorRow } from "../../vector-index.ts";
import { createPlainKernel } from "./dot-kernel.ts";
import { openSqliteVectorIndex, type SqliteVectorIndexOptions } from "./vector-index.ts";

const folder = mkdtempSync(join(tmpdir(), "vector-index-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = (): string => join(folder, `${files++}.sqlite`);
const open = (options: Partial<SqliteVectorIndexOptions> = {}) =>
  openSqliteVectorIndex({ file: newFile(), embedderId: "test/1", dimensions: TEST_DIMENSIONS, ...options });
const opened = async (options: Partial<SqliteVectorIndexOptions> = {}): Promise<OpenedVectorIndex> => {
  const index = await open(options);
  return { index, [Symbol.asyncDispose]: () => index[Symbol.asyncDispose]() };
};

describeVectorIndex("sqlite", () => opened());
describeVectorIndex("sqlite without SIMD", () => opened({ kernel: createPlainKernel() }));
describeVectorIndex("sqlite with no room in memory", () => opened({ residentBytesMax: 0 }));
// Two blocks: the suite's banks push each other out, and the larger ones never fit.
describeVectorIndex("sqlite with little room in memory", () => opened({ residentBytesMax: 2 * 16 * 32 * 4 }));

/** Random unit vectors, the same for the same seed. */
function randomRows(seed: number, count: number): VectorRow[] {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  return Array.from({ length: count }, (_, i) => {
    const vector = Float32Array.from({ length: TEST_DIMENSIONS }, next);
    const length = Math.hypot(...vector);
    const family = (["world", "experience", "observation"] as const)[i % 3]!;
    return { unitId: `unit-${seed}-${i}`, family, vector: vector.map((value) => value / length) };
  });
}

function bestByHand(rows: readonly VectorRow[], query: Float32Array, limit: number): string[] {
  const scored = rows.map((row) => ({ id: row.unitId, score: row.vector.reduce((sum, value, i) => sum + value * query[i]!, 0) }));
  return scored
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map((one) => one.id);
}

const search = { limit: 10, minScore: -1 };

describe("sqlite vector index", () => {
  test("keeps everything over a restart, and a removed unit away", async () => {
    const file = newFile();
    const rows = randomRows(1, 300);
    {
      await using index = await open({ file });
      await index.upsert("a", rows.slice(0, 200));
      await index.upsert("b", rows.slice(200));
      await index.remove("a", [rows[0]!.unitId]);
    }
    await using index = await open({ file });
    expect(await index.count("a")).toBe(199);
    const found = await index.search("a", rows[5]!.vector, search);
    expect(found.map((hit) => hit.unitId)).toEqual(bestByHand(rows.slice(1, 200), rows[5]!.vector, 10));
    expect((await index.search("b", rows[250]!.vector, { limit: 1, minScore: 0 }))[0]!.unitId).toBe(rows[250]!.unitId);
    expect((await index.get("a", ["unit-1-7"])).get("unit-1-7")).toEqual(rows[7]!.vector);
  });

  test("what a write returned from is on disk, even when nobody closes the file", async () => {
    const file = newFile();
    const rows = randomRows(2, 10);
    await using first = await open({ file });
    await first.upsert("a", rows);
    await using second = await open({ file });
    expect(await second.count("a")).toBe(10);
  });

  test("refuses vectors of another embedder, discards them when told to, and takes over an empty file", async () => {
    const file = newFile();
    {
      await using index = await open({ file });
      await index.upsert("a", randomRows(3, 5));
    }
    const refused = { code: "failed_precondition", reason: "EMBEDDER_CHANGED" };
    await expect(open({ file, embedderId: "test/2" })).rejects.toMatchObject(refused);
    await expect(open({ file, dimensions: 32 })).rejects.toMatchObject(refused);
    {
      await using index = await open({ file });
      expect(await index.count("a")).toBe(5);
    }
    {
      await using index = await open({ file, embedderId: "test/2", otherEmbedder: "discard" });
      expect(await index.count("a")).toBe(0);
    }
    await using index = await open({ file, embedderId: "test/3" });
    expect(await index.count("a")).toBe(0);
  });

  test("banks that come and go in memory stay exact, whatever is written meanwhile", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const held = new Map<string, Map<string, VectorRow>>();
    // Room for 12 blocks of 16 rows, for 8 banks of up to 60 rows.
    await using index = await open({ residentBytesMax: 12 * 16 * 32 * 4 });
    const rows = randomRows(seed, 480);
    const queries = randomRows(seed + 1, 40);
    for (let step = 0; step < 400; step++) {
      const row = rows[(step * 37) % rows.length]!;
      const bankUid = `bank-${step % 8}`;
      const bank = held.get(bankUid) ?? new Map<string, VectorRow>();
      held.set(bankUid, bank);
      if (step % 5 === 4) {
        const gone = [...bank.keys()][step % bank.size]!;
        await index.remove(bankUid, [gone]);
        bank.delete(gone);
      } else {
        await index.upsert(bankUid, [row]);
        bank.set(row.unitId, row);
      }
      const asked = `bank-${(step * 3) % Math.min(8, step + 1)}`;
      const query = queries[step % queries.length]!.vector;
      const found = await index.search(asked, query, search);
      const expected = bestByHand([...(held.get(asked)?.values() ?? [])], query, 10);
      expect(
        found.map((hit) => hit.unitId),
        `seed ${seed}, step ${step}`,
      ).toEqual(expected);
    }
  });

  test("many searches at once over more banks than memory holds", async () => {
    await using index = await open({ residentBytesMax: 3 * 16 * 32 * 4 });
    const banks = Array.from({ length: 12 }, (_, i) => ({ bankUid: `bank-${i}`, rows: randomRows(100 + i, 40) }));
    for (const { bankUid, rows } of banks) await index.upsert(bankUid, rows);
    const query = randomRows(99, 1)[0]!.vector;
    const found = await Promise.all(
      Array.from({ length: 5 }, () => banks.map(({ bankUid }) => index.search(bankUid, query, search))).flat(),
    );
    found.forEach((hits, i) => {
      expect(hits.map((hit) => hit.unitId)).toEqual(bestByHand(banks[i % 12]!.rows, query, 10));
    });
  });

  test("a write during the first search, which reads the bank, is not lost", async () => {
    const file = newFile();
    const rows = randomRows(7, 3000);
    {
      await using index = await open({ file });
      await index.upsert("a", rows.slice(0, 2999));
    }
    await using index = await open({ file });
    const query = rows[2999]!.vector;
    const [, , after] = await Promise.all([
      index.search("a", query, search),
      index.upsert("a", [rows[2999]!]),
      index.search("a", query, { limit: 1, minScore: 0.99 }),
    ]);
    expect(after).toHaveLength(1);
    expect((await index.search("a", query, { limit: 1, minScore: 0.99 }))[0]!.unitId).toBe("unit-7-2999");
  });

  test("closing while a bank is read ends the search as unavailable", async () => {
    const file = newFile();
    {
      await using index = await open({ file });
      await index.upsert("a", randomRows(8, 3000));
    }
    const index = await open({ file });
    const ended = expect(index.search("a", randomRows(9, 1)[0]!.vector, search)).rejects.toMatchObject({ code: "unavailable" });
    await index[Symbol.asyncDispose]();
    await ended;
  });
});
