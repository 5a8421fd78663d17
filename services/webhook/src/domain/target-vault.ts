import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { AppError } from "@memory-bank/errors";
import type { SealedTarget, Target } from "./webhook.ts";

/** Encrypts targets (AES-256-GCM) and opens them again. */
export interface TargetVault {
  /** Names the key that `seal` uses. */
  readonly keyId: string;
  seal(id: string, target: Target): SealedTarget;
  /** Throws `unavailable` (TARGET_KEY_MISSING) when its key is not configured, `internal` when it was tampered with. */
  open(sealed: SealedTarget): Target;
}

export interface VaultKeys {
  /** 32 bytes; new targets are sealed with it. */
  readonly current: Uint8Array;
  /** Keys that older targets may still be sealed with. */
  readonly previous?: readonly Uint8Array[];
}

const cipher = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Opened targets are kept, for each delivery of a webhook needs the same one. About a kilobyte each. */
const OPENED_MAX = 2_000;

export function createTargetVault(keys: VaultKeys): TargetVault {
  const byId = new Map([keys.current, ...(keys.previous ?? [])].map((key) => [keyIdOf(key), key]));
  const keyId = keyIdOf(keys.current);
  const opened = new Map<string, Target>();

  return {
    keyId,
    seal(id, target) {
      const nonce = randomBytes(NONCE_BYTES);
      const encryption = createCipheriv(cipher, keys.current, nonce).setAAD(Buffer.from(id));
      const text = Buffer.concat([encryption.update(JSON.stringify(target), "utf8"), encryption.final()]);
      return { id, keyId, sealed: Buffer.concat([nonce, encryption.getAuthTag(), text]) };
    },
    open(sealed) {
      const known = opened.get(sealed.id);
      if (known) return known;
      const key = byId.get(sealed.keyId);
      if (!key) throw new AppError("unavailable", "TARGET_KEY_MISSING", "The encryption key of this webhook is not configured");
      const target = decrypted(sealed, key);
      if (opened.size >= OPENED_MAX) opened.delete(opened.keys().next().value!);
      opened.set(sealed.id, target);
      return target;
    },
  };
}

// The target's id is authenticated with it, so that nobody who can write the database can swap two targets.
function decrypted({ id, sealed }: SealedTarget, key: Uint8Array): Target {
  const bytes = Buffer.from(sealed);
  const decryption = createDecipheriv(cipher, key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(id))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = Buffer.concat([decryption.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decryption.final()]);
  return JSON.parse(text.toString("utf8")) as Target;
}

function keyIdOf(key: Uint8Array): string {
  return createHash("sha256").update("webhook target key\0").update(key).digest("hex").slice(0, 16);
}

const KEY_BYTES = 32;

/** Reads a key of 32 bytes, written as 64 hexadecimal digits or as base64. Throws an `Error` that completes "NAME ...". */
export function parseVaultKey(text: string): Uint8Array {
  const key = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  if (key.length !== KEY_BYTES) throw new Error("must be 32 bytes, as 64 hexadecimal digits or base64");
  return key;
}
