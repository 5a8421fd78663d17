import type { Logger } from "@memory-bank/telemetry";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../clients.ts";
import { bankRoutes } from "./banks/routes.ts";
import { configRoutes } from "./config/routes.ts";
import { healthRoutes } from "./health/routes.ts";
import { memoryRoutes } from "./memories/routes.ts";
import { operationRoutes } from "./operations/routes.ts";
import { statsRoutes } from "./stats/routes.ts";

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
}

/** Every operation of the API, in the order in which the API description lists them. */
export function routes(deps: RoutesDeps): (app: FastifyInstance) => void {
  const { clients } = deps;
  return (app) => {
    bankRoutes(app, clients);
    configRoutes(app, clients);
    statsRoutes(app, clients);
    memoryRoutes(app, clients);
    operationRoutes(app, clients);
    healthRoutes(app, { ...deps, reflect: clients.reflect });
  };
}
