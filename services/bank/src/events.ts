import { defineEvent } from "@memory-bank/events";
import { Type } from "typebox";
import { AUDIT_BATCH_MAX } from "./audit-store.ts";

/** A bank was deleted. Its owners have been told by `Fence`; this is for everybody else. */
export const bankDeleted = defineEvent(
  "bank.deleted.v1",
  Type.Object({ tenantId: Type.String(), bankUid: Type.String(), bankId: Type.String() }),
);

const json = Type.Record(Type.String(), Type.Unknown());

/** Audit entries that a recorder has queued. Their ids make a repeated delivery harmless. */
export const auditRecorded = defineEvent(
  "audit.recorded.v1",
  Type.Object({
    entries: Type.Array(
      Type.Object({
        id: Type.String(),
        tenantId: Type.String(),
        bankId: Type.Union([Type.String(), Type.Null()]),
        action: Type.String(),
        transport: Type.String(),
        startedAtUs: Type.Integer(),
        endedAtUs: Type.Integer(),
        request: Type.Union([json, Type.Null()]),
        response: Type.Unknown(),
        metadata: json,
      }),
      { maxItems: AUDIT_BATCH_MAX },
    ),
  }),
);
