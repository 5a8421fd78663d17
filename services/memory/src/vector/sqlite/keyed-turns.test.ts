import { describe, expect, test } from "vitest";
import { createKeyedTurns } from "./keyed-turns.ts";

/** Records when work starts and ends; each piece ends when it is told to. */
function createLog() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async (): Promise<string> => {
    log.push(`+${name}`);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    log.push(`-${name}`);
    return name;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    // More rounds of microtasks than any chain of promises here is long.
    for (let round = 0; round < 20; round++) await undefined;
  };
  return { log, work, end };
}

describe("keyed turns", () => {
  test("shared work runs side by side, exclusive work alone, in the order of the calls", async () => {
    const turns = createKeyedTurns();
    const { log, work, end } = createLog();
    const all = [
      turns.shared("k", work("a")),
      turns.shared("k", work("b")),
      turns.exclusive("k", work("c")),
      turns.exclusive("k", work("d")),
      turns.shared("k", work("e")),
      turns.shared("other", work("f")),
    ];
    await undefined;
    await undefined;
    expect(log).toEqual(["+a", "+b", "+f"]);
    for (const name of ["b", "a", "c", "d", "e", "f"]) await end(name);
    expect(log).toEqual(["+a", "+b", "+f", "-b", "-a", "+c", "-c", "+d", "-d", "+e", "-e", "-f"]);
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  test("a failure reaches its caller only", async () => {
    const turns = createKeyedTurns();
    const fail = async (): Promise<never> => {
      throw new Error("mine");
    };
    const results = await Promise.allSettled([
      turns.shared("k", fail),
      turns.exclusive("k", fail),
      turns.shared("k", async () => 1),
      turns.exclusive("k", async () => 2),
    ]);
    expect(results.map((result) => result.status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
  });
});
