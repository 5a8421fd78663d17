import { type DotKernel, ROW_STEP } from "./dot-kernel.ts";

/**
 * Rows in one block. Small, because every bank in memory has a block that is partly empty (32 KiB of 512 numbers a row);
 * large enough that a call of the kernel costs nothing beside the block.
 */
export const BLOCK_ROWS = 16;

/**
 * The memory that vectors are compared in, cut into blocks of `BLOCK_ROWS` rows, so that banks can grow, shrink and leave
 * without moving each other. Places are indexes of `floats()`; the i-th row of a block is at `block + i * width`.
 */
export interface VectorArena {
  /** Numbers from one row to the next. */
  readonly width: number;
  readonly blockBytes: number;
  readonly blocksMax: number;
  /** A block of its own, outside the count, for rows that are compared once. */
  readonly scratch: number;
  /** Where `score` leaves its results. */
  readonly results: number;
  floats(): Float32Array;
  /** A free block, or `undefined` when `blocksMax` are in use. */
  takeBlock(): number | undefined;
  giveBack(blocks: readonly number[]): void;
  write(place: number, vector: Float32Array): void;
  read(place: number): Float32Array;
  copy(from: number, to: number): void;
  /** Sets the vector that `score` compares with. */
  ask(query: Float32Array): void;
  /** Leaves the dot products of `count` rows (at most `BLOCK_ROWS`) at `results`. */
  score(place: number, count: number): void;
}

export interface VectorArenaDeps {
  readonly kernel: DotKernel;
  readonly dimensions: number;
  /** What all blocks together may take. */
  readonly bytesMax: number;
}

export function createVectorArena({ kernel, dimensions, bytesMax }: VectorArenaDeps): VectorArena {
  const width = Math.ceil(dimensions / ROW_STEP) * ROW_STEP;
  const blockLength = BLOCK_ROWS * width;
  const blockBytes = blockLength * Float32Array.BYTES_PER_ELEMENT;
  const query = 0;
  const results = width;
  const scratch = results + BLOCK_ROWS;
  const free: number[] = [];
  let end = scratch + blockLength;
  let inUse = 0;
  const blocksMax = Math.floor(bytesMax / blockBytes);
  kernel.grow(end);

  // The padding beyond `dimensions` is never written, so it stays zero and adds nothing.
  const write = (place: number, vector: Float32Array): void => kernel.floats().set(vector, place);

  return {
    width,
    blockBytes,
    blocksMax,
    scratch,
    results,
    floats: () => kernel.floats(),
    takeBlock() {
      if (inUse >= blocksMax) return undefined;
      const used = free.pop();
      if (used === undefined) {
        kernel.grow(end + blockLength);
        end += blockLength;
      }
      inUse += 1;
      return used ?? end - blockLength;
    },
    giveBack(blocks) {
      free.push(...blocks);
      inUse -= blocks.length;
    },
    write,
    read: (place) => kernel.floats().slice(place, place + dimensions),
    copy: (from, to) => void kernel.floats().copyWithin(to, from, from + width),
    ask: (vector) => write(query, vector),
    score: (place, count) => kernel.dots(query, place, count, width, results),
  };
}
