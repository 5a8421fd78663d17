import type { FactFlags, FactType, Interval } from "./fact.ts";

/** One incarnation of a bank. Everything the service keeps belongs to a `bankUid`; `bankId` is only its public name. */
export interface BankRef {
  readonly tenantId: string;
  readonly bankId: string;
  readonly bankUid: string;
}

export type UnitState = "valid" | "invalidated";
export type ConsolidationState = "pending" | "done" | "failed";

/** Which observations a fact feeds: a preset word or exactly these tag sets (contract 13.5). */
export type ObservationScopes = "per_tag" | "combined" | "all_combinations" | "shared" | readonly (readonly string[])[];

/** What ranking wants of a unit beyond its public members; decided at write time. */
export interface UnitFeatures {
  readonly intervals: readonly Interval[];
  readonly flags: FactFlags;
  readonly pairNorm: number;
}

/** A fact that is about to be stored. Its ids and instants are chosen; nothing about it is decided later. */
export interface NewUnit {
  readonly unitId: string;
  readonly type: FactType;
  readonly text: string;
  readonly context: string;
  readonly documentId: string | undefined;
  readonly chunkId: string | undefined;
  readonly sessionId: string;
  readonly passage: number;
  readonly sentenceIndex: number;
  readonly author: string | undefined;
  readonly subject: string | undefined;
  readonly mentionedAtUs: number | undefined;
  readonly occurredStartUs: number | undefined;
  readonly occurredEndUs: number | undefined;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly observationScopes: ObservationScopes | undefined;
  readonly features: UnitFeatures;
  readonly tokenCount: number;
  /** Ids of its entities, existing or new. */
  readonly entityIds: readonly string[];
  readonly createdAtUs: number;
  /** Distinct sources of an observation; 1 for raw facts. */
  readonly proofCount: number;
  /** For observations: the raw units they are drawn from. */
  readonly sourceUnitIds: readonly string[];
  /** Words for full-text search: analysed text, context and entity names. */
  readonly searchTokens: readonly string[];
}

/** When the event of a unit took place, for links, deduplication and entities: occurred start, else when it was said. */
export function eventUsOf(unit: { occurredStartUs: number | undefined; mentionedAtUs: number | undefined }): number | undefined {
  return unit.occurredStartUs ?? unit.mentionedAtUs;
}

export interface UnitEntityRef {
  readonly entityId: string;
  readonly name: string;
  readonly kind: string;
}

/** A stored unit as readers see it. */
export interface Unit {
  readonly unitId: string;
  readonly type: FactType;
  readonly state: UnitState;
  readonly text: string;
  readonly context: string;
  readonly documentId: string | undefined;
  readonly chunkId: string | undefined;
  readonly author: string | undefined;
  readonly subject: string | undefined;
  readonly mentionedAtUs: number | undefined;
  readonly occurredStartUs: number | undefined;
  readonly occurredEndUs: number | undefined;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly observationScopes: ObservationScopes | undefined;
  readonly tokenCount: number;
  readonly proofCount: number;
  /** By name. */
  readonly entities: readonly UnitEntityRef[];
  readonly sourceUnitIds: readonly string[];
  readonly supersededBy: readonly string[];
  readonly consolidatedAtUs: number | undefined;
  readonly consolidationFailedAtUs: number | undefined;
  readonly invalidationReason: string | undefined;
  readonly invalidatedAtUs: number | undefined;
  readonly editedAtUs: number | undefined;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

export type LinkType = "temporal" | "semantic" | "caused_by";

export interface Link {
  readonly fromId: string;
  readonly toId: string;
  readonly type: LinkType;
  /** 0 to 1. */
  readonly weight: number;
}

export interface NewEntity {
  readonly entityId: string;
  readonly name: string;
  readonly kind: string;
}

export interface NewChunk {
  readonly chunkId: string;
  readonly documentId: string;
  readonly chunkIndex: number;
  readonly text: string;
}

export interface NewDocument {
  readonly documentId: string;
  /** Absent when the bank does not keep texts. */
  readonly originalText: string | undefined;
  /** Characters (code points) of the text, kept or not. */
  readonly textLength: number;
  /** SHA-256 of the text, lower-case hex. */
  readonly contentHash: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly retainParams: Readonly<Record<string, unknown>>;
}
