import type { LanguageModelHealth } from "@memory-bank/proto/reflect/v1/reflect";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
import { liveness, modelHealth, readiness, versionAnswer } from "./schemas.ts";

export interface HealthRouteDeps {
  readonly reflect: Pick<GatewayClients["reflect"], "testLanguageModel">;
  /** Microseconds since 1970. */
  readonly nowUs: () => number;
  readonly version: string;
  /** Throws `unavailable` while the services cannot do their work. */
  readonly ready: () => Promise<void>;
  /** All metrics in the Prometheus text format. */
  readonly renderMetrics: () => Promise<string>;
}

/** What clients look at before they show a feature. True only for what is there. */
const features = {
  observations: true,
  mcp: false,
  worker: true,
  bank_config_api: true,
  bank_llm_health: true,
  file_upload_api: false,
  document_export_api: false,
  document_import_api: false,
  audit_log: true,
  llm_trace: false,
  store_document_text: true,
};

export function healthRoutes(app: FastifyInstance, deps: HealthRouteDeps): void {
  const tag = "service";
  const startedUs = deps.nowUs();
  const readinessRoutes = [
    ["/health", "getHealth", "Tell whether requests can be served"],
    ["/health/ready", "getReadiness", "Tell whether requests can be served"],
  ] as const;

  for (const [url, operationId, summary] of readinessRoutes) {
    route(app, {
      method: "GET",
      url,
      operationId,
      summary,
      tag,
      isPublic: true,
      response: readiness,
      handler: async () => {
        await deps.ready();
        return { status: "healthy" as const };
      },
    });
  }

  route(app, {
    method: "GET",
    url: "/health/live",
    operationId: "getLiveness",
    summary: "Tell whether the process runs",
    tag,
    isPublic: true,
    response: liveness,
    handler: async () => {
      const uptimeSeconds = (deps.nowUs() - startedUs) / 1_000_000;
      return { status: "alive" as const, version: deps.version, uptime_seconds: uptimeSeconds };
    },
  });

  route(app, {
    method: "GET",
    url: "/version",
    operationId: "getVersion",
    summary: "Tell the version and the features",
    tag,
    isPublic: true,
    response: versionAnswer,
    handler: async () => ({ api_version: deps.version, features }),
  });

  route(app, {
    method: "GET",
    url: "/metrics",
    operationId: "getMetrics",
    summary: "Read metrics in the Prometheus text format",
    tag,
    isPublic: true,
    mediaType: "text/plain",
    response: Type.String(),
    handler: async (_ctx, { reply }) => {
      reply.type("text/plain; version=0.0.4; charset=utf-8");
      return deps.renderMetrics();
    },
  });

  route(app, {
    method: "POST",
    url: `${bankUrl}/health/llm`,
    operationId: "testLanguageModel",
    summary: "Try the language model of a bank",
    tag,
    params: bankParams,
    response: modelHealth,
    handler: async (ctx, { params: { bank_id: bankId } }) => {
      const health = modelHealthOf(await deps.reflect.testLanguageModel(ctx, { bankId }));
      return { bank_id: bankId, operations: purposes.map((operation) => ({ operation, ...health })) };
    },
  });
}

/** One model serves all of them, so one trial tells of all. */
const purposes = ["retain", "consolidation", "reflect"];

const statusWords: Readonly<Record<string, string>> = { ok: "connected", disabled: "not_configured" };

function modelHealthOf({ status, latencyMs }: LanguageModelHealth) {
  return {
    ok: status === "ok",
    status: statusWords[status] ?? "unreachable",
    latency_ms: status === "disabled" ? null : latencyMs,
  };
}
