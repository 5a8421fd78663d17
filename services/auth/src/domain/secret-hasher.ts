import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/** Server secrets that never touch the database: whoever holds only a copy of it cannot check a single guess. */
export interface Peppers {
  readonly current: string;
  /** Still accepted while keys move over to the current one, which they do when they are next used. */
  readonly previous?: string | undefined;
}

export type PepperMatch = "current" | "previous" | "none";

export interface SecretHasher {
  /** HMAC-SHA256 under the current pepper, 32 bytes. */
  hash(secret: string): Uint8Array;
  /** Tells under which pepper `stored` was made from `secret`. Takes the same time whatever the answer is. */
  match(secret: string, stored: Uint8Array): PepperMatch;
}

/**
 * HMAC under a pepper rather than a slow password hash: the secret is 190 random bits, so there is nothing to slow down, and
 * every request needs it.
 */
export function createSecretHasher(peppers: Peppers): SecretHasher {
  const current = createSecretKey(peppers.current, "utf8");
  const previous = peppers.previous ? createSecretKey(peppers.previous, "utf8") : undefined;
  const hashUnder = (pepper: typeof current, secret: string) => createHmac("sha256", pepper).update(secret).digest();

  return {
    hash: (secret) => hashUnder(current, secret),
    match(secret, stored) {
      const isCurrent = timingSafeEqual(hashUnder(current, secret), stored);
      const isPrevious = previous !== undefined && timingSafeEqual(hashUnder(previous, secret), stored);
      if (isCurrent) return "current";
      return isPrevious ? "previous" : "none";
    },
  };
}
