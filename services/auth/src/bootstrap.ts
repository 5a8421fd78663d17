import { AppError, isAppError } from "@memory-bank/errors";
import type { Logger } from "@memory-bank/telemetry";
import type { AuthStore } from "./auth-store.ts";
import { defaultTenantId, statusOf } from "./domain/api-key.ts";
import { type KeyParts, parseKeyString } from "./domain/key-string.ts";
import { newOwnerKey } from "./domain/new-key.ts";
import { type IssueDeps, issueKey } from "./issue-key.ts";

export interface BootstrapOptions {
  /** `AUTH_BOOTSTRAP_KEY`: becomes an owner key of the default tenant unless it already is one. */
  readonly bootstrapKey?: string | undefined;
  /** Makes an owner key when no key is given and the default tenant has no live owner. Not for several replicas at once. */
  readonly createWhenMissing: boolean;
}

export interface BootstrapDeps extends IssueDeps {
  readonly store: AuthStore;
  readonly log: Logger;
  readonly nowUs: () => number;
}

const ownerKeyName = "Bootstrap owner key";

/**
 * Sees to it that somebody can come in. Answers a key only when one was made here: it is shown once, by the root, and never
 * again. Throws `invalid_argument` naming AUTH_BOOTSTRAP_KEY when that one cannot be used.
 */
export async function ensureBootstrapKey(
  deps: BootstrapDeps,
  options: BootstrapOptions,
): Promise<{ apiKey: string } | undefined> {
  const { store, nowUs } = deps;
  await store.ensureTenant({ tenantId: defaultTenantId, createdAtUs: nowUs() });
  if (options.bootstrapKey !== undefined) {
    await ensureGivenKey(deps, options.bootstrapKey);
    return undefined;
  }
  if (await store.hasLiveOwner(defaultTenantId, nowUs())) return undefined;
  if (!options.createWhenMissing) {
    deps.log.warn({}, "no live owner key exists: set AUTH_BOOTSTRAP_KEY to let somebody in");
    return undefined;
  }
  const { key, credential, apiKey } = issueKey(deps, newOwnerKey(defaultTenantId, ownerKeyName), nowUs());
  await store.insertKey(key, credential);
  return { apiKey };
}

async function ensureGivenKey(deps: BootstrapDeps, bootstrapKey: string): Promise<void> {
  const parts = parseKeyString(bootstrapKey);
  if (!parts) throw refused("is not a well-formed key; `node services/auth/src/make-key.ts` prints a new one");
  if (await isKnown(deps, parts)) return;
  const issued = issueKey(deps, newOwnerKey(defaultTenantId, ownerKeyName), deps.nowUs(), bootstrapKey);
  try {
    await deps.store.insertKey(issued.key, issued.credential);
  } catch (error) {
    // Another replica may have started at the same moment with the same key.
    if (!isAppError(error) || error.code !== "already_exists" || !(await isKnown(deps, parts))) throw error;
  }
}

/** True when the key is on record, whatever has become of it: a revoked key never returns, not even by configuration. */
async function isKnown({ store, hasher, log, nowUs }: BootstrapDeps, { lookup, secret }: KeyParts): Promise<boolean> {
  const known = await store.findByLookup(lookup);
  if (!known) return false;
  if (hasher.match(secret, known.secretHash) === "none") {
    throw refused("does not match the key on record that begins alike; was the key or AUTH_KEY_PEPPER changed?");
  }
  const status = statusOf(known, nowUs());
  if (status !== "active") log.warn({ keyId: known.key.keyId, status }, "AUTH_BOOTSTRAP_KEY names a key that no longer works");
  return true;
}

const refused = (why: string) => new AppError("invalid_argument", "BOOTSTRAP_KEY_REFUSED", `AUTH_BOOTSTRAP_KEY ${why}`);
