import type { TokenUsage } from "@memory-bank/models";
import type { Unit } from "../unit.ts";

/** An observation as the thinking part sees it, with those of its sources that it may see. */
export interface ShownObservation {
  readonly observation: Unit;
  readonly sources: readonly Unit[];
}

/** What can be read of a raw fact, stored or remembered for ranking. Immutable. */
export type Statement = Pick<
  Unit,
  "unitId" | "type" | "text" | "author" | "subject" | "mentionedAtUs" | "occurredStartUs" | "occurredEndUs" | "createdAtUs"
>;

/** What the bank holds around the facts of one scope. Everything that a lookup answers counts as shown. */
export interface Surroundings {
  /** Observations that recall finds for the facts, best first, with source facts within the bank's token bounds. */
  relatedObservations(): Promise<readonly ShownObservation[]>;
  /** Raw facts of the same scope that mean nearly the same as one of the facts and are wanted, nearest first, bounded. */
  similarFacts(fact: Unit, isWanted: (fact: Statement) => boolean): Promise<readonly Unit[]>;
  /** Raw facts of the same scope that hold any of the index terms (any fact when there are none) and are wanted; newest first, bounded. */
  factsWithTerms(terms: readonly string[] | undefined, isWanted: (fact: Statement) => boolean): Promise<readonly Unit[]>;
  /** Observations of exactly this scope that are drawn from any of the units, oldest first, each with all its sources. */
  observationsOf(unitIds: readonly string[]): Promise<readonly ShownObservation[]>;
}

export interface ConsolidationInput {
  /** Sorted tags of the observations that the facts feed; empty: the untagged scope. */
  readonly scope: readonly string[];
  readonly facts: readonly Unit[];
  readonly around: Surroundings;
  /** What the bank wants observed; undefined: the built-in description. */
  readonly mission: string | undefined;
  /** Observations that may be added to the scope; beyond it creates are dropped. */
  readonly createsMax: number;
  readonly signal: AbortSignal;
}

/** What should become of the observations of a scope. Applied in the order deletes, updates, creates. */
export interface Proposal {
  readonly deletes: readonly string[];
  /** `sourceIds` are added to the sources that the observation has. */
  readonly updates: readonly { readonly observationId: string; readonly text: string; readonly sourceIds: readonly string[] }[];
  readonly creates: readonly { readonly text: string; readonly sourceIds: readonly string[] }[];
  /** The first raw unit no longer holds because of the second. */
  readonly supersedes: readonly { readonly unitId: string; readonly byId: string }[];
  readonly usage: TokenUsage;
}

/** A new observation whose text nearly equals one of the scope. */
export interface Twins {
  readonly text: string;
  readonly existing: Unit;
  readonly signal: AbortSignal;
}

/**
 * The thinking part of consolidation. Contract:
 * - it names only ids that it was shown; others are ignored by the caller;
 * - every create and update names at least one source;
 * - it throws `unavailable` or `resource_exhausted` when nothing can be decided now; any other failure is taken as the fault of
 *   one of the facts, which the caller then looks for.
 */
export interface Consolidator {
  propose(input: ConsolidationInput): Promise<Proposal>;
  /** The text of the one observation that twins become, or undefined when both stand. */
  mergeTwins(twins: Twins): Promise<{ readonly text: string | undefined; readonly usage: TokenUsage }>;
}
