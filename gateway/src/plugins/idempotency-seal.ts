import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from "node:crypto";
import { AppError } from "@memory-bank/errors";

export interface StoredAnswer {
  readonly status: number;
  /** JSON text, as it was sent. */
  readonly body: string;
}

/** What is stored about a request, of which only its caller can make sense. */
export interface AnswerSeal {
  /** Names the key without telling it. */
  readonly keyHash: string;
  /** Tells requests apart, and nothing else to whoever does not hold the secret. */
  hash(request: unknown): string;
  close(answer: StoredAnswer): Buffer;
  /** Throws `internal` for anything that `close` did not make under the same scope and secret. */
  open(sealed: Uint8Array): StoredAnswer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * An answer may hold what is shown only once, such as the secret of a new API key, and must not lie readable in a database for a
 * day. So it is encrypted under a key that is made of the caller's own API key, which is stored nowhere. `scope`: everything that
 * makes the idempotency key unique.
 */
export function createAnswerSeal({ scope, secret }: { scope: readonly string[]; secret: string }): AnswerSeal {
  const keyHash = hash("sha256", JSON.stringify(scope), "hex");
  const derived = Buffer.from(hkdfSync("sha256", secret, "", keyHash, 64));
  const [encryptionKey, hashKey] = [derived.subarray(0, 32), derived.subarray(32)];
  return {
    keyHash,
    hash: (request) => createHmac("sha256", hashKey).update(JSON.stringify(request)).digest("hex"),
    close({ status, body }) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", encryptionKey, nonce);
      const text = Buffer.concat([cipher.update(JSON.stringify([status, body]), "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open(sealed) {
      const [nonce, tag] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
      try {
        const decipher = createDecipheriv("aes-256-gcm", encryptionKey, nonce, { authTagLength: TAG_BYTES });
        decipher.setAuthTag(tag);
        const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
        const [status, body] = JSON.parse(text.toString("utf8")) as [number, string];
        return { status, body };
      } catch (cause) {
        throw new AppError("internal", "SEALED_ANSWER_BROKEN", "A stored answer could not be opened", { cause });
      }
    },
  };
}
