import { randomBytes } from "node:crypto";
import type { KnownKey } from "../auth-store.ts";
import { verifiedKeyToProto } from "../convert.ts";
import { statusOf } from "../domain/api-key.ts";
import { invalidKey } from "../domain/invalid-key.ts";
import { parseKeyString } from "../domain/key-string.ts";
import type { AuthInternalRpc, HandlerDeps } from "./deps.ts";

/** Compared with when no such key exists, so that an unknown key takes the time of a known one. Matches nothing. */
const nobodysHash = randomBytes(32);

export const createVerifyKeyHandler =
  (deps: HandlerDeps): AuthInternalRpc["verifyKey"] =>
  async (_ctx, { apiKey }) => {
    const known = await findLiveKey(deps, apiKey);
    deps.metrics.verified(known ? "accepted" : "refused");
    if (!known) throw invalidKey();
    deps.lastUse.note(known.key, deps.nowUs());
    return verifiedKeyToProto(known);
  };

async function findLiveKey(deps: HandlerDeps, apiKey: string): Promise<KnownKey | undefined> {
  const parts = parseKeyString(apiKey);
  if (!parts) return undefined;
  const known = await deps.store.findByLookup(parts.lookup);
  const match = deps.hasher.match(parts.secret, known?.secretHash ?? nobodysHash);
  if (!known || match === "none" || statusOf(known, deps.nowUs()) !== "active") return undefined;
  if (match === "previous") await moveToCurrentPepper(deps, known, parts.secret);
  return known;
}

/** A key that cannot be moved now is still good, and is moved when it is next verified. */
async function moveToCurrentPepper({ store, hasher, log }: HandlerDeps, known: KnownKey, secret: string): Promise<void> {
  try {
    await store.replaceSecretHash(known.key.keyId, known.secretHash, hasher.hash(secret));
  } catch (error) {
    log.warn({ err: error, keyId: known.key.keyId }, "key could not be moved to the current pepper");
  }
}
