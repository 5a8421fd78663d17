import type { AuthInternalServiceService, AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import type { Rpc } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import type { AuthStore } from "../auth-store.ts";
import type { SecretHasher } from "../domain/secret-hasher.ts";
import type { LastUse } from "../last-use.ts";
import type { AuthMetrics } from "../metrics.ts";

export type AuthRpc = Rpc<AuthServiceService>;
export type AuthInternalRpc = Rpc<AuthInternalServiceService>;

/** What the handlers work with. */
export interface HandlerDeps {
  readonly store: AuthStore;
  readonly hasher: SecretHasher;
  readonly lastUse: LastUse;
  readonly metrics: AuthMetrics;
  readonly log: Logger;
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Told of a revocation after it is durable and before the caller gets its answer. */
  readonly onRevoked: (keyIds: readonly string[]) => void;
}
