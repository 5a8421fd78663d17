import { Type } from "typebox";
import { orNull } from "../answer-parts.ts";

export const readiness = Type.Object({ status: Type.Literal("healthy") });

export const liveness = Type.Object({
  status: Type.Literal("alive"),
  version: Type.String(),
  uptime_seconds: Type.Number({ minimum: 0 }),
});

export const versionAnswer = Type.Object({
  api_version: Type.String(),
  features: Type.Object({
    observations: Type.Boolean(),
    mcp: Type.Boolean(),
    worker: Type.Boolean(),
    bank_config_api: Type.Boolean(),
    bank_llm_health: Type.Boolean(),
    file_upload_api: Type.Boolean(),
    document_export_api: Type.Boolean(),
    document_import_api: Type.Boolean(),
    audit_log: Type.Boolean(),
    llm_trace: Type.Boolean(),
    store_document_text: Type.Boolean(),
  }),
});

export const modelHealth = Type.Object({
  bank_id: Type.String(),
  operations: Type.Array(
    Type.Object({
      operation: Type.String(),
      ok: Type.Boolean(),
      status: Type.String({ description: "connected, not_configured or unreachable" }),
      latency_ms: orNull(Type.Number()),
    }),
  ),
});
