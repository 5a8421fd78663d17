/** A seeded source of randomness: mulberry32. The same seed gives the same run. */
export interface Random {
  readonly seed: number;
  /** In [0, 1). */
  next(): number;
  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Takes TEST_SEED, or a fresh seed, and prints it so that a failure can be run again. */
export function seededRandom(what: string): Random {
  const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;
  console.log(`${what}: TEST_SEED=${seed}`);
  return randomFrom(seed);
}

export function randomFrom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    seed,
    next,
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}

/** True when the heavy tests run in their full size (`pnpm test:full`). */
export const isFullSize = process.env["TEST_FULL"] === "1";
