import { expect, test } from "vitest";
import { createAllowList } from "../domain/allow-list.ts";
import { checkedDestination } from "../domain/destination-url.ts";
import { createDestinationGuard } from "./destination-guard.ts";

const FULL = process.env["TEST_FULL"] === "1";
const CASES = FULL ? 20_000 : 2_000;
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** A small generator of numbers in [0, 1) that a seed repeats (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(seed);
const below = (bound: number) => Math.floor(random() * bound);
const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
const byte = () => below(256);

/** First addresses and lengths of blocks, written down here a second time so that a slip in the guard's own table shows. */
const innerBlocks: readonly (readonly [number, number])[] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0586300, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 4],
  [0xf0000000, 4],
];

function innerAddress(): number {
  const [base, bits] = pick(innerBlocks);
  return (base + Math.floor(random() * 2 ** (32 - bits))) >>> 0;
}
const isInner = (address: number) =>
  innerBlocks.some(([base, bits]) => Math.floor(address / 2 ** (32 - bits)) === Math.floor(base / 2 ** (32 - bits)));

const bytesOf = (address: number) => [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255] as const;
const hexOf = (address: number) => {
  const [a, b, c, d] = bytesOf(address);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};
const inAnyBase = (value: number) =>
  pick([String(value), `0${value.toString(8)}`, `0x${value.toString(16)}`, `0X${value.toString(16).toUpperCase()}`]);
const fullWidth = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));

/** One of the ways in which an IPv4 address can be written as the host of a URL. */
function spelled(address: number): string {
  const [a, b, c, d] = bytesOf(address);
  const dotted = `${a}.${b}.${c}.${d}`;
  return pick([
    () => dotted,
    () => `${dotted}.`,
    () => fullWidth(dotted),
    () => dotted.replaceAll(".", pick(["。", "．", "｡"])),
    () => [a, b, c, d].map(inAnyBase).join("."),
    () => [inAnyBase(a), inAnyBase(b), inAnyBase((c << 8) | d)].join("."),
    () => [inAnyBase(a), inAnyBase(((b << 16) | (c << 8) | d) >>> 0)].join("."),
    () => inAnyBase(address),
    () =>
      [...dotted].map((char) => (random() < 0.3 && /\d/.test(char) ? `%${char.codePointAt(0)!.toString(16)}` : char)).join(""),
    () => `[::ffff:${dotted}]`,
    () => `[::ffff:${hexOf(address)}]`,
    () => `[0:0:0:0:0:FFFF:${dotted}]`,
    () => `[64:ff9b::${dotted}]`,
    () => `[2002:${hexOf(address)}::${below(65_536).toString(16)}]`,
    () => `[::${dotted}]`,
  ])();
}

function around(host: string): string {
  const scheme = pick(["http", "https", "HTTP", "hTTps"]);
  const slashes = pick(["//", "//", "//", "\\\\", "/\\", "////"]);
  const port = random() < 0.3 ? `:${1 + below(65_535)}` : "";
  return `${scheme}:${slashes}${host}${port}${pick(["", "/", "/a/b", "?q=1", "/#x", "/@8.8.8.8"])}`;
}

const guard = createDestinationGuard({ allowList: createAllowList([]), ownPorts: () => [], resolve: async () => [] });

async function isCallable(url: string): Promise<boolean> {
  try {
    checkedDestination(url, createAllowList([]));
    await guard.judge(new URL(url).hostname, 80);
    return true;
  } catch {
    return false;
  }
}

test(`no spelling of an inner address gets through, and public ones do (${CASES} URLs, TEST_SEED=${seed})`, async () => {
  const escaped: string[] = [];
  const lost: string[] = [];
  let publicOnes = 0;
  for (let index = 0; index < CASES; index += 1) {
    const inner = innerAddress();
    const url = around(spelled(inner));
    if (await isCallable(url)) escaped.push(url);
    const address = ((byte() << 24) | (byte() << 16) | (byte() << 8) | byte()) >>> 0;
    if (isInner(address) || [0xc01fc400, 0xc034c100, 0xc0af3000].includes((address & 0xffffff00) >>> 0)) continue;
    publicOnes += 1;
    const publicUrl = around(spelled(address));
    if (!(await isCallable(publicUrl))) lost.push(publicUrl);
  }
  expect(escaped).toEqual([]);
  expect(lost).toEqual([]);
  expect(publicOnes).toBeGreaterThan(CASES / 2);
});
