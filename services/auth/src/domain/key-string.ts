import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const prefix = "hsk_";
const lookupLength = 16; // about 95 bits: two keys never meet, so the store can find a key by this part
const secretLength = 32; // about 190 bits: beyond guessing
const checksumLength = 6; // 62^6 is the first power of 62 above 2^32
const shownLength = 12;

const keyStringPattern = new RegExp(`^${prefix}[0-9A-Za-z]{${lookupLength + secretLength + checksumLength}}$`);

/** The two random parts of a key string: the store finds the key by the first and never holds the second. */
export interface KeyParts {
  readonly lookup: string;
  readonly secret: string;
}

/**
 * A new key: `hsk_`, look-up part, secret part, and the CRC-32 of all that in base 62, so that junk and typing errors are
 * refused without a read. `bytes` gives that many random bytes.
 */
export function createKeyString(bytes: (count: number) => Uint8Array = randomBytes): string {
  const body = prefix + randomBase62(lookupLength + secretLength, bytes);
  return body + checksumOf(body);
}

/** The parts of a well-formed key, or `undefined` for any other text. */
export function parseKeyString(text: string): KeyParts | undefined {
  if (!keyStringPattern.test(text)) return undefined;
  const body = text.slice(0, -checksumLength);
  if (!text.endsWith(checksumOf(body))) return undefined;
  const secretStart = prefix.length + lookupLength;
  return { lookup: text.slice(prefix.length, secretStart), secret: text.slice(secretStart, secretStart + secretLength) };
}

/** What may be shown of a key to tell it from others: none of it is secret. */
export function keyPrefixOf(keyString: string): string {
  return keyString.slice(0, shownLength);
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

// The largest multiple of 62 that a byte can hold. Bytes above it would make the first characters likelier, so they are dropped.
const unbiasedByteLimit = 248;

function randomBase62(length: number, bytes: (count: number) => Uint8Array): string {
  let text = "";
  while (text.length < length) {
    for (const byte of bytes(length - text.length)) {
      if (byte < unbiasedByteLimit) text += base62.charAt(byte % 62);
    }
  }
  return text;
}
