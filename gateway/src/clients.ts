import type { AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import type { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import type { Rpc } from "@memory-bank/rpc";

/** The services behind the REST API. A route names the few methods that it calls with `Pick`, so that a test can offer just those. */
export interface GatewayClients {
  readonly auth: Rpc<AuthServiceService>;
  readonly bank: Rpc<BankServiceService>;
  /** Audit entries and idempotent answers, which no caller may write. */
  readonly bankInternal: Rpc<BankInternalServiceService>;
  readonly memory: Rpc<MemoryServiceService>;
  readonly reflect: Rpc<ReflectServiceService>;
  readonly webhook: Rpc<WebhookServiceService>;
}
