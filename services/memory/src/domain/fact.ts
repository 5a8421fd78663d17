/** The vocabulary of the memory domain: what extraction makes, what ranking reads. Instants are integer microseconds since 1970 (UTC). */

/** Stored and emitted fact types; see `familyOf` for the three families that processing compares. */
export const factTypes = ["world", "preference", "fact", "experience", "observation"] as const;
export type FactType = (typeof factTypes)[number];
export type FactFamily = "world" | "experience" | "observation";

/** Links, deduplication, consolidation and retrieval compare families, never exact types. */
export function familyOf(type: FactType): FactFamily {
  return type === "experience" || type === "observation" ? type : "world";
}

/** A closed interval of instants. Both ends inclusive; whole days end at their last microsecond. */
export interface Interval {
  readonly startUs: number;
  readonly endUs: number;
}

/** An entity as written in one fact, before resolution against the bank's entities. */
export interface EntityMention {
  /** White space folded and trimmed. */
  readonly name: string;
  /** PERSON, ORGANIZATION, LOCATION, EVENT, PRODUCT, CONCEPT, OTHER, LABEL, or a caller's own kind. */
  readonly kind: string;
}

/** What ranking wants to know of a sentence, decided once at write time (English rules; all false and empty elsewhere). */
export interface FactFlags {
  readonly endsWithQuestion: boolean;
  readonly containsQuestion: boolean;
  /** A date parser hit or a word such as yesterday, last week, a month or weekday name, ago, recently. */
  readonly hasTimeExpression: boolean;
  readonly hasPlace: boolean;
  /** min(2, proper nouns other than authors + 1 if a quoted title). */
  readonly nameCount: number;
}

/** One fact as extraction makes it: sentence-level, its text the source's own words. */
export interface ExtractedFact {
  /** Stored text: `Speaker: sentence` when the source names a speaker, else the sentence. */
  readonly text: string;
  readonly type: FactType;
  /** Who said it, when the source names a speaker. */
  readonly author?: string;
  /** Whom it is about, when that differs from the author or there is no author ("Maria runs ..." -> Maria). */
  readonly subject?: string;
  readonly entities: readonly EntityMention[];
  readonly occurredStartUs?: number;
  readonly occurredEndUs?: number;
  /** Every time expression of the sentence, made absolute with the item's time. */
  readonly intervals: readonly Interval[];
  readonly flags: FactFlags;
  /** Text for the embedder: own words without speaker prefix, plus date phrase and entity names as contract 12.2 says. */
  readonly embeddedText: string;
  /** Index of the chunk (within the document) that holds the sentence. */
  readonly chunkIndex: number;
  /** Index of the passage within the item: a turn of a conversation or a paragraph. Facts of one passage rank together. */
  readonly passageIndex: number;
  /** Index of the sentence within its passage. */
  readonly sentenceIndex: number;
  /** Indexes of earlier facts of the same item that this one is an effect of. */
  readonly causedBy: readonly number[];
}

/** What recall keeps in memory of each live unit. Immutable: an edited unit is a new record with the same id. */
export interface RankingRecord {
  readonly unitId: string;
  readonly type: FactType;
  readonly text: string;
  readonly context: string;
  readonly author: string | undefined;
  readonly subject: string | undefined;
  readonly documentId: string | undefined;
  /** The retain call (or the document, when one call carries several documents); windows never cross it. */
  readonly sessionId: string;
  /** Order of the passage in its session, rising; gaps are allowed. */
  readonly passage: number;
  readonly sentenceIndex: number;
  readonly entityIds: readonly string[];
  readonly entityNames: readonly string[];
  readonly tags: readonly string[];
  readonly intervals: readonly Interval[];
  readonly flags: FactFlags;
  readonly occurredStartUs: number | undefined;
  readonly occurredEndUs: number | undefined;
  readonly mentionedAtUs: number | undefined;
  readonly createdAtUs: number;
  readonly proofCount: number;
  /** Length of the sum of all sentence vectors of the previous passage and this one; 0 when unknown. Cosine of a query with that pair = sum of the sentences' scores / pairNorm. */
  readonly pairNorm: number;
  /** Units that superseded this one; a superseded unit ranks below them. */
  readonly supersededBy: readonly string[];
  /** For observations: the raw units they are drawn from. */
  readonly sourceUnitIds: readonly string[];
  /** Carried to the results; ranking does not read them. */
  readonly chunkId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** cl100k tokens of the text. */
  readonly tokenCount: number;
}
