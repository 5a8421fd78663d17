import type {
  AuditStats,
  Bank as BankMessage,
  Directive as DirectiveMessage,
  AuditEntry as EntryMessage,
} from "@memory-bank/proto/bank/v1/bank";
import { TagsMatch as TagsMatchMessage } from "@memory-bank/proto/common/v1/common";
import type { AuditBucket, AuditEntry, AuditPeriod } from "./domain/audit.ts";
import { type Bank, profileOf } from "./domain/bank.ts";
import type { UpperLayers } from "./domain/bank-config.ts";
import type { Directive, TagsMatch } from "./domain/directive.ts";
import type { JsonObject, JsonValue } from "./domain/json.ts";

/** What the generated code calls a Struct. */
type Struct = { readonly [member: string]: unknown };

export function bankToProto(bank: Bank, upper: UpperLayers): BankMessage {
  const { bankId, bankUid, name, createdAtUs, updatedAtUs } = bank;
  return { bankId, bankUid, name, ...profileOf(bank, upper), createdAtUs, updatedAtUs };
}

export function directiveToProto(directive: Directive, bankId: string): DirectiveMessage {
  const { bankUid: _, tags, ...members } = directive;
  return { ...members, bankId, tags: [...tags] };
}

/** The members of a Struct. They are JSON already: both transports carry nothing else. */
export function jsonFromProto(struct: Struct | undefined): JsonObject {
  return (struct ?? {}) as JsonObject;
}

/** Members without those that are null, which a profile request counts as not given. */
export function givenFromProto(struct: Struct | undefined): JsonObject {
  return Object.fromEntries(Object.entries(jsonFromProto(struct)).filter(([, value]) => value !== null));
}

export function auditEntryToProto(entry: AuditEntry): EntryMessage {
  const { id, action, transport, startedAtUs, endedAtUs, metadata, tenantId } = entry;
  return {
    id,
    action,
    transport,
    bankId: entry.bankId ?? undefined,
    startedAtUs,
    endedAtUs,
    request: entry.request ?? undefined,
    response: entry.response ?? undefined,
    metadata,
    tenantId,
  };
}

export function auditEntryFromProto(entry: EntryMessage, callerTenantId: string): AuditEntry {
  return {
    id: entry.id,
    tenantId: entry.tenantId || callerTenantId,
    bankId: entry.bankId ?? null,
    action: entry.action,
    transport: entry.transport,
    startedAtUs: entry.startedAtUs,
    endedAtUs: entry.endedAtUs,
    request: entry.request ? jsonFromProto(entry.request) : null,
    response: (entry.response ?? null) as JsonValue,
    metadata: jsonFromProto(entry.metadata),
  };
}

export function auditStatsToProto({ period, trunc, startUs }: AuditPeriod, buckets: readonly AuditBucket[]): AuditStats {
  return { period, trunc, startUs, buckets: buckets.map((bucket) => ({ ...bucket, actions: { ...bucket.actions } })) };
}

const tagsMatches: Readonly<Record<number, TagsMatch>> = {
  [TagsMatchMessage.UNSPECIFIED]: "any",
  [TagsMatchMessage.ANY]: "any",
  [TagsMatchMessage.ALL]: "all",
  [TagsMatchMessage.ANY_STRICT]: "any_strict",
  [TagsMatchMessage.ALL_STRICT]: "all_strict",
  [TagsMatchMessage.EXACT]: "exact",
};

/** A value of a newer peer that this version does not know counts as the default. */
export function tagsMatchFromProto(match: number | undefined): TagsMatch {
  return tagsMatches[match ?? 0] ?? "any";
}
