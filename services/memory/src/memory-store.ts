import type { DomainEvent } from "@memory-bank/events";
import type { Claim, NewJob } from "@memory-bank/jobs";
import type { FactFamily, FactType, RankingRecord } from "./domain/fact.ts";
import type { TagFilter } from "./domain/tags.ts";
import type {
  BankRef,
  ConsolidationState,
  Link,
  LinkType,
  NewChunk,
  NewDocument,
  NewEntity,
  NewUnit,
  ObservationScopes,
  Unit,
  UnitState,
} from "./domain/unit.ts";

/** A page of a list: `limit` 0 answers no items and the true total. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Every match, whatever the page. */
  readonly total: number;
}

/** What a commit tells others and sets going, in the same atomic write. */
export interface Consequences {
  readonly events: readonly DomainEvent[];
  readonly jobs: readonly NewJob[];
  /** The job that this commit finishes; a lost lease fails the whole commit (`conflict`, LEASE_LOST). */
  readonly completes?: { readonly claim: Claim; readonly result: Readonly<Record<string, unknown>> };
}

/** Everything that one retain call adds, planned against commit `expectedSeq` of the bank. */
export interface RetainCommit extends Consequences {
  readonly bank: BankRef;
  /** The bank's commit that the plan has read; another one fails with `conflict`, SEQ_MOVED, and nothing is written. */
  readonly expectedSeq: number;
  readonly nowUs: number;
  /** Documents to write, in order. One that exists is replaced: its chunks, units and what hangs on them go first. */
  readonly documents: readonly NewDocument[];
  readonly chunks: readonly NewChunk[];
  readonly entities: readonly NewEntity[];
  /** Better kinds for existing entities that so far had CONCEPT or OTHER. */
  readonly entityKinds: readonly { readonly entityId: string; readonly kind: string }[];
  readonly units: readonly NewUnit[];
  /** Both ends live, neither among the replaced units. */
  readonly links: readonly Link[];
}

export interface Committed {
  /** The bank's commit sequence number after the write. */
  readonly seq: number;
  /** Units that went away, for the vector index. */
  readonly removedUnitIds: readonly string[];
  /** Raw units that became pending again because an observation of theirs went away. */
  readonly requeuedCount: number;
}

/** New values of one raw unit; absent members keep their value. */
export interface UnitEdit extends Consequences {
  readonly bank: BankRef;
  readonly unitId: string;
  readonly nowUs: number;
  readonly text?: string;
  readonly context?: string;
  readonly type?: FactType;
  readonly occurredStartUs?: number;
  readonly occurredEndUs?: number;
  /** Replaces the unit's entities, with the entities that are new. */
  readonly entities?: { readonly created: readonly NewEntity[]; readonly entityIds: readonly string[] };
  readonly state?: UnitState;
  readonly reason?: string;
  /** Replaces the unit's temporal and semantic links in both directions. */
  readonly links?: readonly Link[];
  readonly features?: NewUnit["features"];
  readonly tokenCount?: number;
  readonly searchTokens?: readonly string[];
}

export interface UnitQuery extends PageRequest {
  readonly type?: string;
  /** Analysed words that must all occur; `prefix` is a start of a word that must occur too. */
  readonly words?: { readonly all: readonly string[]; readonly prefix?: string };
  /** For queries without words: a literal part of text or context. */
  readonly substring?: string;
  readonly consolidationState?: ConsolidationState;
  readonly state: UnitState;
  readonly documentId?: string;
  readonly chunkId?: string;
  readonly entityId?: string;
  readonly tags?: TagFilter;
}

export interface Entity {
  readonly entityId: string;
  readonly name: string;
  readonly kind: string;
  readonly mentionCount: number;
  readonly firstSeenUs: number | undefined;
  readonly lastSeenUs: number | undefined;
}

export interface Cooccurrence {
  readonly sourceId: string;
  readonly targetId: string;
  readonly weight: number;
  readonly lastUs: number | undefined;
}

export interface Document {
  readonly documentId: string;
  readonly originalText: string | undefined;
  readonly textLength: number;
  readonly contentHash: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly retainParams: Readonly<Record<string, unknown>>;
  readonly unitCount: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

export interface Chunk {
  readonly chunkId: string;
  readonly documentId: string;
  readonly chunkIndex: number;
  readonly text: string;
  readonly createdAtUs: number;
}

export interface Stats {
  readonly nodesByType: ReadonlyMap<FactType, number>;
  /** Type of the source unit to links by type; `entity` is derived (contract 3.6). */
  readonly links: ReadonlyMap<FactType, ReadonlyMap<LinkType | "entity", number>>;
  readonly documents: number;
  readonly pendingConsolidation: number;
  readonly failedConsolidation: number;
  readonly lastConsolidatedAtUs: number | undefined;
  readonly lastWriteAtUs: number | undefined;
}

export interface BankActivity extends BankRef {
  readonly factCount: number;
  readonly lastDocumentAtUs: number | undefined;
  readonly lastWriteAtUs: number | undefined;
}

/** What planning needs of a neighbour: enough to judge duplicates and to weigh links. */
export interface UnitSummary {
  readonly unitId: string;
  readonly family: FactFamily;
  readonly text: string;
  readonly author: string | undefined;
  readonly eventUs: number | undefined;
  readonly documentId: string | undefined;
  readonly tags: readonly string[];
  readonly entityNames: readonly string[];
}

/** One change of an observation, as the history keeps it. */
export interface ObservationChange {
  readonly previousText: string;
  readonly previousTags: readonly string[];
  readonly previousOccurredStartUs: number | undefined;
  readonly previousOccurredEndUs: number | undefined;
  readonly previousMentionedAtUs: number | undefined;
  readonly changedAtUs: number;
  readonly newSourceIds: readonly string[];
  readonly sourceFacts: readonly { id: string; text: string; type: string; context: string; isNew: boolean }[];
}

/** An observation that consolidation rewrites. Its sources are the union of the old and the new ones. */
export interface ObservationUpdate {
  readonly unitId: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly occurredStartUs: number | undefined;
  readonly occurredEndUs: number | undefined;
  readonly mentionedAtUs: number | undefined;
  readonly sourceUnitIds: readonly string[];
  readonly newSourceIds: readonly string[];
  readonly entityIds: readonly string[];
  readonly features: NewUnit["features"];
  readonly tokenCount: number;
  readonly searchTokens: readonly string[];
}

/** What one batch of consolidation does, applied in the order deletes, updates, creates. */
export interface ConsolidationCommit extends Consequences {
  readonly bank: BankRef;
  readonly expectedSeq: number;
  readonly nowUs: number;
  readonly deletes: readonly string[];
  readonly updates: readonly ObservationUpdate[];
  readonly creates: readonly NewUnit[];
  readonly links: readonly Link[];
  /** Raw units that are now `done`. */
  readonly done: readonly string[];
  /** Raw units that are now `failed`. */
  readonly failed: readonly string[];
  /** `unitId` is superseded by `byId`: it ranks below it from now on. */
  readonly supersedes: readonly { readonly unitId: string; readonly byId: string }[];
}

/** What changed in a bank since a commit, for the recall index. */
export interface IndexChanges {
  readonly seq: number;
  /** True when the answer is the whole bank, because removals since `sinceSeq` are no longer known. */
  readonly isComplete: boolean;
  readonly upserts: readonly RankingRecord[];
  readonly removedUnitIds: readonly string[];
}

/**
 * Documents, chunks, units, entities, links and tags of banks, by incarnation (`bankUid`).
 *
 * Every write is atomic and durable before it answers, raises the bank's commit sequence number by one, and keeps all
 * counts right: what `stats`, `listTags`, `listEntities` and `entityGraph` answer equals a recount of the live rows.
 * A bank that was never written reads as empty. A fenced bank reads as empty at once; writes to it fail with `cancelled`,
 * BANK_FENCED. "Live" units are those in state `valid`; invalidated ones are seen only by `findUnit`, and by `listUnits` when asked.
 * Ids, tags and document ids compare byte for byte; entity names are unique ignoring case.
 */
export interface MemoryStore extends AsyncDisposable {
  /** The bank's latest commit; 0 before the first. */
  seq(bankUid: string): Promise<number>;

  /** Applies a retain. */
  commitRetain(commit: RetainCommit): Promise<Committed>;
  /**
   * Edits, invalidates or restores a raw unit. Observations drawn from it go away and their other sources become pending, as
   * does the unit itself. `not_found` for unknown units, `invalid_argument` (OBSERVATION_IMMUTABLE) for observations.
   */
  editUnit(edit: UnitEdit): Promise<Committed>;
  /** Deletes a document with its units; `not_found` when it is unknown. `removedUnitIds` counts observations that went with them apart. */
  deleteDocument(
    bank: BankRef,
    documentId: string,
    nowUs: number,
    consequences: Consequences,
  ): Promise<Committed & { readonly deletedCount: number }>;
  /** Replaces the tags of a document and of its units; observations of those units go away. `not_found` when it is unknown. */
  retagDocument(
    bank: BankRef,
    documentId: string,
    tags: readonly string[],
    nowUs: number,
    consequences: Consequences,
  ): Promise<Committed & { readonly updatedCount: number }>;
  /** Deletes units of one family, or everything (documents and entities too) when none is given. */
  clearUnits(
    bank: BankRef,
    family: FactFamily | undefined,
    nowUs: number,
    consequences: Consequences,
  ): Promise<Committed & { readonly deletedCount: number }>;
  /** Deletes observations drawn from one raw unit, or all of the bank, and makes their sources pending. */
  clearObservations(
    bank: BankRef,
    sourceUnitId: string | undefined,
    nowUs: number,
    consequences: Consequences,
  ): Promise<Committed & { readonly deletedCount: number }>;
  /** Applies one batch of consolidation. Sources that are gone are left out; an observation without any is not written. */
  commitConsolidation(commit: ConsolidationCommit): Promise<Committed>;
  /** Makes failed units pending again. */
  recoverFailed(bank: BankRef, nowUs: number, consequences: Consequences): Promise<{ readonly retriedCount: number }>;

  findUnit(bankUid: string, unitId: string): Promise<Unit | undefined>;
  /** The live units among `unitIds`, in that order. */
  getUnits(bankUid: string, unitIds: readonly string[]): Promise<readonly Unit[]>;
  /** By `mentionedAtUs` descending (absent last), then `createdAtUs`, then id, descending. */
  listUnits(bankUid: string, query: UnitQuery): Promise<Page<Unit>>;
  history(bankUid: string, unitId: string): Promise<readonly ObservationChange[]>;

  /** Tags of live units, most used first, then by tag. `pattern` is anchored, `*` is any run, case is ignored. */
  listTags(
    bankUid: string,
    pattern: string | undefined,
    page: PageRequest,
  ): Promise<Page<{ readonly tag: string; readonly count: number }>>;
  /** Most mentioned first, then by name, then by id. */
  listEntities(bankUid: string, page: PageRequest): Promise<Page<Entity>>;
  findEntity(bankUid: string, entityId: string): Promise<Entity | undefined>;
  /** Strongest first: by weight, then last date (absent last), descending, then by the pair of ids. */
  entityGraph(
    bankUid: string,
    limit: number,
    minCount: number,
  ): Promise<{ readonly nodes: readonly Entity[]; readonly edges: readonly Cooccurrence[] }>;
  stats(bankUid: string): Promise<Stats>;
  /** Creation, said or event instants of live units since `sinceUs`, by family, for counting over time. */
  instants(
    bankUid: string,
    field: "created_at" | "mentioned_at" | "occurred_start",
    sinceUs: number,
  ): Promise<readonly { readonly atUs: number; readonly family: FactFamily }[]>;
  /** Newest first, ties by id. `query` is a part of the id, ignoring case. */
  listDocuments(
    bankUid: string,
    query: { readonly idPart?: string; readonly tags?: TagFilter } & PageRequest,
  ): Promise<Page<Document>>;
  findDocument(bankUid: string, documentId: string): Promise<Document | undefined>;
  listChunks(bankUid: string, documentId: string, page: PageRequest): Promise<Page<Chunk>>;
  getChunks(bankUid: string, chunkIds: readonly string[]): Promise<readonly Chunk[]>;
  /** A chunk of any live bank of the tenant. */
  findChunk(tenantId: string, chunkId: string): Promise<(Chunk & { readonly bankId: string }) | undefined>;
  /** Links that start or end at one of the live units. */
  linksOf(bankUid: string, unitIds: readonly string[], types: readonly LinkType[]): Promise<readonly Link[]>;
  /** Per unit its strongest semantic and causal neighbours in either direction, for the graph arm of recall. */
  neighboursOf(
    bankUid: string,
    unitIds: readonly string[],
    limitPerUnit: number,
  ): Promise<ReadonlyMap<string, readonly { readonly unitId: string; readonly weight: number }[]>>;
  /** Banks of the tenant that were ever written and are not fenced. */
  activity(tenantId: string, bankIds: readonly string[] | undefined): Promise<readonly BankActivity[]>;
  /** Tag sets of observations with their counts, most first. */
  observationScopes(bankUid: string): Promise<readonly { readonly tags: readonly string[]; readonly count: number }[]>;

  /** For planning: name, kind and last event of every entity of the bank. */
  entityNames(bankUid: string): Promise<readonly Entity[]>;
  /** For planning: ids of entities that occur together with one. */
  cooccurringIds(bankUid: string, entityId: string): Promise<ReadonlySet<string>>;
  /** For planning: live units by id; unknown ids are left out. */
  summaries(bankUid: string, unitIds: readonly string[]): Promise<readonly UnitSummary[]>;
  /** For planning: up to `limit` live units of the family on either side of an instant, nearest first, within `withinUs`. */
  nearestInTime(
    bankUid: string,
    family: FactFamily,
    eventUs: number,
    withinUs: number,
    limit: number,
  ): Promise<readonly { readonly unitId: string; readonly eventUs: number }[]>;
  /** For consolidation: pending raw units, oldest created first. */
  pendingUnits(bankUid: string, limit: number, exceptIds: ReadonlySet<string>): Promise<readonly Unit[]>;
  /** Banks with pending units, for the sweep. */
  banksWithPending(limit: number): Promise<readonly BankRef[]>;

  /** True while units of the bank wait for the vectors of another embedder: it cannot be searched by meaning then. */
  lacksVectors(bankUid: string): Promise<boolean>;

  /** What the recall index of a bank at `sinceSeq` (0: none) lacks. */
  changesSince(bankUid: string, sinceSeq: number): Promise<IndexChanges>;
  /** Live units in the scope that changed after a commit, the newest change, and which of some ids are not live. */
  scopeChanges(
    bankUid: string,
    scope: {
      readonly tags: TagFilter;
      readonly types: readonly FactType[] | undefined;
      readonly sinceSeq: number;
      readonly citedIds: readonly string[];
    },
  ): Promise<{
    readonly changedCount: number;
    readonly newestUpdatedAtUs: number | undefined;
    readonly missingIds: readonly string[];
  }>;

  /** Hides the bank and answers how many live units that hid; 0 on a repeat. */
  fence(bankUid: string): Promise<number>;
  /** Deletes a bounded part of a fenced bank; true when nothing is left. */
  purge(bankUid: string): Promise<boolean>;
}

export type { ObservationScopes };
