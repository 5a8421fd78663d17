import { AuthInternalServiceService, AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { implement, type Service } from "@memory-bank/rpc";
import type { Logger, Meter } from "@memory-bank/telemetry";
import type { AuthStore } from "./auth-store.ts";
import { type BootstrapOptions, ensureBootstrapKey } from "./bootstrap.ts";
import { createSecretHasher, type Peppers } from "./domain/secret-hasher.ts";
import { createCreateApiKeyHandler } from "./handlers/create-api-key.ts";
import { createCreateScopedApiKeyHandler } from "./handlers/create-scoped-api-key.ts";
import { createCreateTenantHandler } from "./handlers/create-tenant.ts";
import type { HandlerDeps } from "./handlers/deps.ts";
import { createListApiKeysHandler } from "./handlers/list-api-keys.ts";
import { createRevokeApiKeyHandler } from "./handlers/revoke-api-key.ts";
import { createVerifyKeyHandler } from "./handlers/verify-key.ts";
import { createLastUse } from "./last-use.ts";
import { createAuthMetrics } from "./metrics.ts";

export interface AuthDeps {
  readonly store: AuthStore;
  readonly peppers: Peppers;
  readonly log: Logger;
  readonly meter: Meter;
  readonly nowUs: () => number;
  readonly newId: () => string;
  /**
   * Told the ids that a revocation ended, once it is durable and before the caller hears of it. Whoever remembers verified
   * keys in this process forgets them here; other processes learn from `key.revoked.v1`.
   */
  readonly onRevoked?: (keyIds: readonly string[]) => void;
}

export interface AuthService extends Service {
  /** For roots, before `start`: see `ensureBootstrapKey`. A key in the answer is shown to the operator once, and kept nowhere. */
  ensureBootstrapKey(options: BootstrapOptions): Promise<{ apiKey: string } | undefined>;
}

/** Tenants, their keys, and the answer to whose a key is. */
export function createAuthService(deps: AuthDeps): AuthService {
  const { store, log, nowUs, newId, onRevoked = () => {} } = deps;
  const hasher = createSecretHasher(deps.peppers);
  const lastUse = createLastUse({ store, log });
  const metrics = createAuthMetrics(deps.meter);
  const handlerDeps: HandlerDeps = { store, hasher, lastUse, metrics, log, nowUs, newId, onRevoked };

  return {
    name: "auth",
    implementations: [
      implement(AuthServiceService, {
        createApiKey: createCreateApiKeyHandler(handlerDeps),
        createScopedApiKey: createCreateScopedApiKeyHandler(handlerDeps),
        listApiKeys: createListApiKeysHandler(handlerDeps),
        revokeApiKey: createRevokeApiKeyHandler(handlerDeps),
      }),
      implement(AuthInternalServiceService, {
        verifyKey: createVerifyKeyHandler(handlerDeps),
        createTenant: createCreateTenantHandler(handlerDeps),
      }),
    ],
    ensureBootstrapKey: (options) => ensureBootstrapKey({ store, hasher, log, nowUs, newId }, options),
    start: async () => store.startPublishing(),
    stop: () => lastUse.flush(),
    ready: () => store.ping(),
  };
}
