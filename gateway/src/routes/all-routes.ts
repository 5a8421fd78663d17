import { createAuditQueue } from "@memory-bank/audit";
import type { Logger } from "@memory-bank/telemetry";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../clients.ts";
import { registerAudit } from "../plugins/audit.ts";
import { registerIdempotency } from "../plugins/idempotency.ts";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import { auditLogRoutes } from "./audit-logs/routes.ts";
import { bankRoutes } from "./banks/routes.ts";
import { chunkRoutes } from "./chunks/routes.ts";
import { configRoutes } from "./config/routes.ts";
import { directiveRoutes } from "./directives/routes.ts";
import { documentRoutes } from "./documents/routes.ts";
import { entityRoutes } from "./entities/routes.ts";
import { graphRoutes } from "./graph/routes.ts";
import { healthRoutes } from "./health/routes.ts";
import { memoryRoutes } from "./memories/routes.ts";
import { mentalModelRoutes } from "./mental-models/routes.ts";
import { observationRoutes } from "./observations/routes.ts";
import { operationRoutes } from "./operations/routes.ts";
import { reflectRoutes } from "./reflect/routes.ts";
import { statsRoutes } from "./stats/routes.ts";
import { tagRoutes } from "./tags/routes.ts";
import { deliveryRoutes } from "./webhooks/delivery-routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

export interface RoutesDeps {
  readonly clients: GatewayClients;
  /** Microseconds since 1970. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  readonly log: Logger;
  /** The product version. */
  readonly version: string;
  /** Throws `unavailable` while the services cannot do their work. */
  readonly ready: () => Promise<void>;
  /** All metrics in the Prometheus text format. */
  readonly renderMetrics: () => Promise<string>;
  /** Keeps the text of memories in the audit log, also after they are forgotten. */
  readonly auditKeepsText?: boolean;
}

/** Every operation of the API, in the order in which the API description lists them. */
export function routes(deps: RoutesDeps): (app: FastifyInstance) => void {
  const { clients, nowUs, newId, log, auditKeepsText: keepsText = false } = deps;
  return (app) => {
    const queue = createAuditQueue({ bank: clients.bankInternal, log, nowUs, newId });
    registerAudit(app, { queue, nowUs, newId, keepsText });
    registerIdempotency(app, { bank: clients.bankInternal, log, nowUs, newId });
    bankRoutes(app, clients);
    configRoutes(app, clients);
    statsRoutes(app, clients);
    memoryRoutes(app, clients);
    observationRoutes(app, clients);
    graphRoutes(app, clients);
    tagRoutes(app, clients);
    entityRoutes(app, clients);
    documentRoutes(app, clients);
    chunkRoutes(app, clients);
    operationRoutes(app, clients);
    reflectRoutes(app, clients);
    mentalModelRoutes(app, clients);
    directiveRoutes(app, clients);
    webhookRoutes(app, clients);
    deliveryRoutes(app, clients);
    auditLogRoutes(app, clients);
    apiKeyRoutes(app, clients);
    healthRoutes(app, { ...deps, reflect: clients.reflect });
  };
}
