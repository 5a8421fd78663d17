import { describe, expect, test } from "vitest";
import { createKeyString, keyPrefixOf, parseKeyString } from "./key-string.ts";

/** Looks like a key, but is made of the same bytes in every run. */
const steadyKey = () => createKeyString((count) => Uint8Array.from({ length: count }, (_, i) => (i * 37) % 248));

test("a new key is well formed and its parts are in it", () => {
  const key = createKeyString();
  const parts = parseKeyString(key);
  expect(key).toMatch(/^hsk_[0-9A-Za-z]{54}$/);
  expect(key.startsWith(`hsk_${parts?.lookup}${parts?.secret}`)).toBe(true);
  expect(parts?.lookup).toHaveLength(16);
  expect(parts?.secret).toHaveLength(32);
  expect(keyPrefixOf(key)).toBe(key.slice(0, 12));
});

test("keys do not repeat", () => {
  expect(new Set(Array.from({ length: 1_000 }, () => createKeyString())).size).toBe(1_000);
});

test("no character is likelier than another: bytes that would favour some are dropped", () => {
  const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
  let drawn = 0;
  const counts = new Map<string, number>();
  // 31 keys use up exactly six rounds of the 248 unbiased byte values.
  for (let i = 0; i < 31; i++) {
    const key = createKeyString((count) => Uint8Array.from({ length: count }, () => everyByte[drawn++ % 256] ?? 0));
    for (const character of key.slice(4, 52)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  expect(new Set(counts.values())).toEqual(new Set([24]));
});

test("the checksum is the CRC-32 of what precedes it, in base 62", () => {
  const key = steadyKey();
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const checksum = [...key.slice(52)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  expect(checksum).toBe(bitwiseCrc32(key.slice(0, 52)));
});

describe("refused", () => {
  const key = steadyKey();
  test.each([
    ["nothing", ""],
    ["only the prefix", "hsk_"],
    ["one character less", key.slice(0, -1)],
    ["one character more", `${key}0`],
    ["another prefix", key.replace("hsk_", "hsx_")],
    ["prefix in capitals", key.replace("hsk_", "HSK_")],
    ["no prefix", key.slice(4)],
    ["a blank before it", ` ${key}`],
    ["a blank after it", `${key} `],
    ["a line break after it", `${key}\n`],
    ["a NUL in it", `${key.slice(0, 20)}\0${key.slice(21)}`],
    ["a dash in it", `${key.slice(0, 20)}-${key.slice(21)}`],
    ["full-width letters", `hsk_${"Ａ".repeat(54)}`],
    ["the right form without checksum", `hsk_${"a".repeat(54)}`],
    ["swapped neighbours", `${key.slice(0, 10)}${key[11]}${key[10]}${key.slice(12)}`],
    ["everything in small letters", key.toLowerCase()],
    ["a megabyte", `hsk_${"a".repeat(1_000_000)}`],
  ])("%s", (_, text) => {
    expect(text).not.toBe(key);
    expect(parseKeyString(text)).toBeUndefined();
  });

  test("any single wrong character", () => {
    for (let i = 4; i < key.length; i++) {
      const wrong = key.slice(0, i) + (key[i] === "x" ? "y" : "x") + key.slice(i + 1);
      expect(parseKeyString(wrong), `position ${i}`).toBeUndefined();
    }
  });
});

function bitwiseCrc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
