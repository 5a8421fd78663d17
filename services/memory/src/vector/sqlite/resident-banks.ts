import { BLOCK_ROWS, type VectorArena } from "./vector-arena.ts";

/** A bank whose vectors are in the arena. Row `i` belongs to `unitIds[i]`; rows have no gaps, but no order either. */
export interface ResidentBank {
  readonly unitIds: string[];
  readonly familyCodes: number[];
  readonly rowOf: Map<string, number>;
  readonly blocks: number[];
}

/** The banks in memory. When it is full, those that were used longest ago leave; what they held stays on disk. */
export interface ResidentBanks {
  /** The bank, which counts as used now. */
  find(bankUid: string): ResidentBank | undefined;
  add(bankUid: string, bank: ResidentBank): void;
  /** Sets the vector of one unit, new or not. False when no memory could be had: the bank then has to go. */
  put(bank: ResidentBank, unitId: string, familyCode: number, vector: Float32Array): boolean;
  remove(bank: ResidentBank, unitId: string): void;
  /** Gives the bank's memory back. */
  release(bank: ResidentBank): void;
  /** Takes the bank out, if it is in, and gives its memory back. */
  drop(bankUid: string): void;
}

export function newResidentBank(): ResidentBank {
  return { unitIds: [], familyCodes: [], rowOf: new Map(), blocks: [] };
}

/** Where the vector of a row is in the arena. */
export function placeOf(bank: ResidentBank, row: number, width: number): number {
  return bank.blocks[Math.floor(row / BLOCK_ROWS)]! + (row % BLOCK_ROWS) * width;
}

export function createResidentBanks(arena: VectorArena): ResidentBanks {
  // A map keeps the order of insertion, so its first bank is the one that was used longest ago.
  const banks = new Map<string, ResidentBank>();

  const release = (bank: ResidentBank): void => arena.giveBack(bank.blocks.splice(0));
  const drop = (bankUid: string): void => {
    const bank = banks.get(bankUid);
    banks.delete(bankUid);
    if (bank) release(bank);
  };
  const takeBlock = (bank: ResidentBank): number | undefined => {
    for (;;) {
      const block = arena.takeBlock();
      if (block !== undefined) return block;
      const oldest = banks.entries().find(([, other]) => other !== bank);
      if (!oldest) return undefined;
      drop(oldest[0]);
    }
  };

  return {
    find(bankUid) {
      const bank = banks.get(bankUid);
      if (!bank) return undefined;
      banks.delete(bankUid);
      banks.set(bankUid, bank);
      return bank;
    },
    add: (bankUid, bank) => void banks.set(bankUid, bank),
    put(bank, unitId, familyCode, vector) {
      let row = bank.rowOf.get(unitId);
      if (row === undefined) {
        row = bank.unitIds.length;
        if (row === bank.blocks.length * BLOCK_ROWS) {
          const block = takeBlock(bank);
          if (block === undefined) return false;
          bank.blocks.push(block);
        }
        bank.unitIds.push(unitId);
        bank.rowOf.set(unitId, row);
      }
      bank.familyCodes[row] = familyCode;
      arena.write(placeOf(bank, row, arena.width), vector);
      return true;
    },
    remove(bank, unitId) {
      const row = bank.rowOf.get(unitId);
      if (row === undefined) return;
      // The last row fills the gap.
      const last = bank.unitIds.length - 1;
      const lastId = bank.unitIds[last]!;
      arena.copy(placeOf(bank, last, arena.width), placeOf(bank, row, arena.width));
      bank.unitIds[row] = lastId;
      bank.familyCodes[row] = bank.familyCodes[last]!;
      bank.rowOf.set(lastId, row);
      bank.rowOf.delete(unitId);
      bank.unitIds.pop();
      bank.familyCodes.pop();
      if (last % BLOCK_ROWS === 0) arena.giveBack([bank.blocks.pop()!]);
    },
    release,
    drop,
  };
}
