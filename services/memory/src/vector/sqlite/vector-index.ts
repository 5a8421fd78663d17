import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "@memory-bank/errors";
import { migrationsFrom, openSqlite, type SqliteDatabase } from "@memory-bank/storage";
import type { VectorIndex, VectorRow } from "../../vector-index.ts";
import { createDotKernel, type DotKernel } from "./dot-kernel.ts";
import { createKeyedTurns } from "./keyed-turns.ts";
import { createResidentBanks, newResidentBank, placeOf, type ResidentBank } from "./resident-banks.ts";
import { scoreOf, searchResident, searchStored } from "./scan.ts";
import { BLOCK_ROWS, createVectorArena } from "./vector-arena.ts";
import {
  addBank,
  codeOf,
  countVectors,
  findBankNo,
  findVector,
  readUnitIds,
  readVectors,
  removeBank,
  removeSomeVectors,
  removeVectors,
  type StoredVector,
  upsertVectors,
} from "./vector-rows.ts";
import { claimSpace } from "./vector-space.ts";

export interface SqliteVectorIndexOptions {
  /** A file of its own, or `:memory:`. The folder must exist. */
  readonly file: string;
  readonly embedderId: string;
  readonly dimensions: number;
  /** What the vectors in memory may take; banks that were not used for longest leave first. Default 512 MiB, at most 4 GiB. */
  readonly residentBytesMax?: number;
  /** What happens to vectors that another embedder made: refuse to open (default), or drop them all for new ones to come. */
  readonly otherEmbedder?: "refuse" | "discard";
  /** Default: the fastest one that this process can run. */
  readonly kernel?: DotKernel;
}

const RESIDENT_BYTES_DEFAULT = 512 * 1024 * 1024; // 250 000 vectors of 512 numbers
const RESIDENT_BYTES_LIMIT = 2 ** 32 - 2 ** 26; // one WebAssembly memory is 4 GiB; the rest is room for its other parts
const PAGE_BYTES = 16_384; // of the file: seven vectors of 512 numbers per page, where the usual size holds one
const PAGE_ROWS = 1024; // read or dropped at once: some 10 ms, then the event loop has its turn
const PAGE_IDS = 4096; // the same for ids alone

/**
 * Exact vector search in one file. Rows live in SQLite and are committed before a write returns; a bank that is searched
 * is held in memory whole and compared row by row: about 0.3 ms for 5,000 vectors of 512 numbers. A bank that is larger than
 * the memory allowed is read from the file each time: slower, but as exact. Throws `failed_precondition`, reason
 * `EMBEDDER_CHANGED`, for a file with vectors of another embedder.
 */
export async function openSqliteVectorIndex(options: SqliteVectorIndexOptions): Promise<VectorIndex> {
  const { dimensions, residentBytesMax = RESIDENT_BYTES_DEFAULT, kernel = createDotKernel() } = options;
  const bytesMax = Math.min(residentBytesMax, RESIDENT_BYTES_LIMIT);
  const arena = createVectorArena({ kernel, dimensions, bytesMax });
  const residents = createResidentBanks(arena);
  const migrations = migrationsFrom(new URL("./migrations/", import.meta.url));
  const db = openSqlite({ file: options.file, migrations, pageSize: PAGE_BYTES });
  try {
    claimSpace(db, options);
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw error;
  }
  // Writes share a bank, so that they share commits; whoever reads or drops all of it needs it to stand still meanwhile.
  const turns = createKeyedTurns();
  // One bank at a time is read into memory, so that two large ones do not push each other out half way.
  const loads = createKeyedTurns();
  let isClosed = false;

  const requireOpen = (): void => {
    if (isClosed) throw new AppError("unavailable", "VECTOR_INDEX_CLOSED", "The vector index is closed");
  };
  const requireVector = (vector: Float32Array): void => {
    if (vector.length !== dimensions) {
      const text = `A vector has ${vector.length} numbers, expected ${dimensions}`;
      throw new AppError("invalid_argument", "VECTOR_DIMENSIONS", text);
    }
    if (!vector.every(Number.isFinite)) {
      throw new AppError("invalid_argument", "VECTOR_NOT_FINITE", "A vector has a number that is not finite");
    }
  };
  const bankNoOf = (bankUid: string): number | undefined => db.read((tx) => findBankNo(tx, bankUid));

  /** Runs one of the two, with the bank in memory or, if it is larger than that, without. An absent bank is an empty one. */
  const useBank = <T>(
    bankUid: string,
    inMemory: (bank: ResidentBank) => T,
    onFile: (bankNo: number) => T | Promise<T>,
  ): T | Promise<T> => {
    const resident = residents.find(bankUid);
    if (resident) return inMemory(resident);
    return turns.exclusive(bankUid, async () => {
      requireOpen();
      const bankNo = bankNoOf(bankUid);
      if (bankNo === undefined) return inMemory(newResidentBank());
      const bank = residents.find(bankUid) ?? (await loads.exclusive("", () => loadBank(bankUid, bankNo)));
      // Nothing may come between: the bank can leave memory in any later turn.
      return bank ? inMemory(bank) : await onFile(bankNo);
    });
  };

  const loadBank = async (bankUid: string, bankNo: number): Promise<ResidentBank | undefined> => {
    const count = db.read((tx) => countVectors(tx, bankNo));
    if (Math.ceil(count / BLOCK_ROWS) > arena.blocksMax) return undefined;
    const bank = newResidentBank();
    try {
      for await (const page of storedPages(db, bankNo)) {
        requireOpen();
        for (const { unitId, familyCode, vector } of page) {
          if (residents.put(bank, unitId, familyCode, vector)) continue;
          residents.release(bank);
          return undefined;
        }
      }
    } catch (error) {
      residents.release(bank);
      throw error;
    }
    residents.add(bankUid, bank);
    return bank;
  };

  return {
    async upsert(bankUid, rows) {
      requireOpen();
      for (const { vector } of rows) requireVector(vector);
      if (rows.length === 0) return;
      const kept: VectorRow[] = rows.map((row) => ({ ...row, vector: row.vector.slice() }));
      await turns.shared(bankUid, async () => {
        await db.write((tx) => upsertVectors(tx, addBank(tx, bankUid), kept));
        const bank = residents.find(bankUid);
        if (!bank) return;
        const isHeld = kept.every(({ unitId, family, vector }) => residents.put(bank, unitId, codeOf(family), vector));
        if (!isHeld) residents.drop(bankUid);
      });
    },

    async remove(bankUid, unitIds) {
      requireOpen();
      if (unitIds.length === 0) return;
      const named = [...unitIds];
      await turns.shared(bankUid, async () => {
        const bankNo = bankNoOf(bankUid);
        if (bankNo === undefined) return;
        await db.write((tx) => removeVectors(tx, bankNo, named));
        const bank = residents.find(bankUid);
        if (bank) for (const unitId of named) residents.remove(bank, unitId);
      });
    },

    async search(bankUid, query, search) {
      requireOpen();
      requireVector(query);
      return useBank(
        bankUid,
        (bank) => searchResident(arena, bank, query, search),
        (bankNo) => searchStored(arena, storedPages(db, bankNo), query, search),
      );
    },

    async scores(bankUid, query, unitIds) {
      requireOpen();
      requireVector(query);
      return useBank(
        bankUid,
        (bank) => {
          arena.ask(query);
          const found = new Map<string, number>();
          for (const unitId of unitIds) {
            const row = bank.rowOf.get(unitId);
            if (row !== undefined) found.set(unitId, scoreOf(arena, placeOf(bank, row, arena.width)));
          }
          return found;
        },
        (bankNo) =>
          db.read((tx) => {
            arena.ask(query);
            const rows = unitIds.flatMap((unitId) => {
              const vector = findVector(tx, bankNo, unitId);
              if (!vector) return [];
              arena.write(arena.scratch, vector);
              return [[unitId, scoreOf(arena, arena.scratch)] as const];
            });
            return new Map(rows);
          }),
      );
    },

    async get(bankUid, unitIds) {
      requireOpen();
      return db.read((tx) => {
        const found = new Map<string, Float32Array>();
        const bankNo = findBankNo(tx, bankUid);
        if (bankNo === undefined) return found;
        for (const unitId of unitIds) {
          const vector = findVector(tx, bankNo, unitId);
          if (vector) found.set(unitId, vector);
        }
        return found;
      });
    },

    async count(bankUid) {
      requireOpen();
      return db.read((tx) => {
        const bankNo = findBankNo(tx, bankUid);
        return bankNo === undefined ? 0 : countVectors(tx, bankNo);
      });
    },

    async *unitIds(bankUid) {
      requireOpen();
      const bankNo = bankNoOf(bankUid);
      if (bankNo === undefined) return;
      for (let after = ""; ; ) {
        requireOpen();
        const page = db.read((tx) => readUnitIds(tx, bankNo, after, PAGE_IDS));
        yield* page;
        if (page.length < PAGE_IDS) return;
        after = page.at(-1)!;
        await nextTurn();
      }
    },

    async dropBank(bankUid) {
      requireOpen();
      await turns.exclusive(bankUid, async () => {
        residents.drop(bankUid);
        const bankNo = bankNoOf(bankUid);
        if (bankNo === undefined) return;
        for (let isEmpty = false; !isEmpty; await nextTurn()) {
          isEmpty = await db.write((tx) => {
            if (removeSomeVectors(tx, bankNo, PAGE_ROWS) === PAGE_ROWS) return false;
            removeBank(tx, bankNo);
            return true;
          });
        }
      });
    },

    async [Symbol.asyncDispose]() {
      isClosed = true;
      await db[Symbol.asyncDispose]();
    },
  };
}

/** The bank's vectors in pages, with a turn of the event loop after each. */
async function* storedPages(db: SqliteDatabase, bankNo: number): AsyncIterable<readonly StoredVector[]> {
  for (let after = 0; ; await nextTurn()) {
    const page = db.read((tx) => readVectors(tx, bankNo, after, PAGE_ROWS));
    if (page.length > 0) yield page;
    if (page.length < PAGE_ROWS) return;
    after = page.at(-1)!.vectorNo;
  }
}
