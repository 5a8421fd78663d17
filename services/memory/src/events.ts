import { defineEvent } from "@memory-bank/events";
import Type from "typebox";

const head = {
  tenantId: Type.String(),
  bankUid: Type.String(),
  bankId: Type.String(),
  /** The bank's commit that the event reports. */
  commitSeq: Type.Integer(),
  /** The operation that caused it; for a synchronous call a fresh random id. */
  operationId: Type.String(),
};

/** Facts were committed; one item per item of the request, in order. */
export const memoryRetained = defineEvent(
  "memory.retained.v1",
  Type.Object({
    ...head,
    items: Type.Array(
      Type.Object({
        /** Null when the item named no document. */
        documentId: Type.Union([Type.String(), Type.Null()]),
        /** Units that the document owns now. */
        unitCount: Type.Integer(),
        tags: Type.Array(Type.String()),
      }),
    ),
  }),
);

const json = Type.Record(Type.String(), Type.Unknown());

/** Audit entries of jobs, for bank. Their ids make a repeated delivery harmless. */
export const auditRecorded = defineEvent(
  "audit.recorded.v1",
  Type.Object({
    entries: Type.Array(
      Type.Object({
        id: Type.String(),
        tenantId: Type.String(),
        bankId: Type.String(),
        action: Type.String(),
        transport: Type.Literal("system"),
        startedAtUs: Type.Integer(),
        endedAtUs: Type.Integer(),
        request: json,
        response: Type.Union([json, Type.Null()]),
        metadata: json,
      }),
    ),
  }),
);

/** A consolidation run ended, or an attempt at it failed. */
export const consolidationCompleted = defineEvent(
  "consolidation.completed.v1",
  Type.Object({
    ...head,
    status: Type.Union([Type.Literal("completed"), Type.Literal("failed")]),
    observationsCreated: Type.Integer(),
    observationsUpdated: Type.Integer(),
    observationsDeleted: Type.Integer(),
    /** Tag sets of the units that the run looked at. */
    tagSets: Type.Array(Type.Array(Type.String())),
    /** Why the attempt failed. */
    error: Type.Union([Type.String(), Type.Null()]),
  }),
);
