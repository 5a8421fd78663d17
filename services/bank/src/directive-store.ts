import type { Directive, TagsMatch } from "./domain/directive.ts";

/**
 * Directives of live banks. Each call is atomic; after `BankStore.bury` every read of the bank's directives is empty and
 * every write finds nothing.
 */
export interface DirectiveStore {
  /** False, and nothing written, when the bank is not live. */
  insert(directive: Directive): Promise<boolean>;
  find(bankUid: string, directiveId: string): Promise<Directive | undefined>;
  /** `change` is pure and may be called more than once. `undefined` when the bank has no such directive. */
  update(bankUid: string, directiveId: string, change: (directive: Directive) => Directive): Promise<Directive | undefined>;
  /** False when the bank has no such directive. */
  delete(bankUid: string, directiveId: string): Promise<boolean>;
  /** By priority, then the time of creation, then the id, all descending. */
  list(query: DirectiveQuery): Promise<DirectivePage>;
}

export interface DirectiveQuery {
  readonly bankUid: string;
  readonly isActiveOnly: boolean;
  readonly tags: readonly string[];
  readonly tagsMatch: TagsMatch;
  /** 1 to `DIRECTIVE_PAGE_MAX`. */
  readonly limit: number;
  readonly offset: number;
}

export interface DirectivePage {
  readonly directives: readonly Directive[];
  /** All matches, whatever the page. */
  readonly total: number;
}

export const DIRECTIVE_PAGE_MAX = 1_000; // the public contract's limit
