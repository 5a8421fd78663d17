import { valueError } from "@memory-bank/errors";
import type { RetiredSecret } from "./webhook.ts";

const encodedPrefix = "whsec_";

/** How long a replaced secret signs beside its successor, so that receivers can change theirs without a gap. */
export const SECRET_OVERLAP_US = 24 * 3_600_000_000;
/** Each secret that still signs adds 48 bytes to a header; nobody rotates more often than this within a day. */
export const RETIRED_SECRETS_MAX = 5;

/**
 * A secret as it is stored. An empty one means that there is none. Text after `whsec_` must be base64 with its padding:
 * the official libraries of receivers decode it strictly, and would refuse every signature of a looser reading.
 */
export function checkedSecret(secret: string): string | null {
  if (secret === "") return null;
  if (secret.startsWith(encodedPrefix) && !isBase64(secret.slice(encodedPrefix.length))) {
    throw valueError(["body", "secret"], "a secret that starts with 'whsec_' must continue with base64", secret);
  }
  return secret;
}

/** The key of the Standard Webhooks signature. */
export function signingKey(secret: string): Uint8Array {
  return secret.startsWith(encodedPrefix)
    ? Buffer.from(secret.slice(encodedPrefix.length), "base64")
    : new TextEncoder().encode(secret);
}

/** The retired secrets after `replaced` gave way to `next`. Without a next secret nothing signs any more. */
export function retire(
  retired: readonly RetiredSecret[],
  replaced: string | null,
  next: string | null,
  nowUs: number,
): readonly RetiredSecret[] {
  if (next === null) return [];
  const live = retired.filter(({ secret, untilUs }) => untilUs > nowUs && secret !== next);
  if (replaced === null || replaced === next) return live;
  const others = live.filter(({ secret }) => secret !== replaced);
  return [{ secret: replaced, untilUs: nowUs + SECRET_OVERLAP_US }, ...others].slice(0, RETIRED_SECRETS_MAX);
}

/** The secrets that sign at `nowUs`, the current one first. */
export function signingSecrets(
  target: { readonly secret: string | null; readonly retiredSecrets: readonly RetiredSecret[] },
  nowUs: number,
): readonly string[] {
  if (target.secret === null) return [];
  return [target.secret, ...target.retiredSecrets.filter(({ untilUs }) => untilUs > nowUs).map(({ secret }) => secret)];
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
