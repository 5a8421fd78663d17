import type { Credential } from "./auth-store.ts";
import type { ApiKey } from "./domain/api-key.ts";
import { createKeyString, keyPrefixOf, parseKeyString } from "./domain/key-string.ts";
import type { NewKey } from "./domain/new-key.ts";
import type { SecretHasher } from "./domain/secret-hasher.ts";

/** A key about to be stored. `apiKey` is the only place where its secret exists; it goes to the caller and nowhere else. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly credential: Credential;
  readonly apiKey: string;
}

export interface IssueDeps {
  readonly hasher: SecretHasher;
  readonly newId: () => string;
}

/** Gives a decided key its id and its secret: a new one, unless the operator chose the key string. */
export function issueKey(deps: IssueDeps, newKey: NewKey, nowUs: number, apiKey = createKeyString()): IssuedKey {
  const parts = parseKeyString(apiKey);
  if (!parts) throw new TypeError("issueKey needs a well-formed key string");
  const life = { lastUsedAtUs: null, createdAtUs: nowUs, revokedAtUs: null };
  return {
    key: { keyId: deps.newId(), ...newKey, keyPrefix: keyPrefixOf(apiKey), ...life },
    credential: { lookup: parts.lookup, secretHash: deps.hasher.hash(parts.secret) },
    apiKey,
  };
}
