import type { DomainEvent, EventBus, OutboxRelay } from "@memory-bank/events";
import type { JobStore, NewJob } from "@memory-bank/jobs";
import type { Logger } from "@memory-bank/telemetry";
import type { AuditStore } from "./audit-store.ts";
import type { DirectiveStore } from "./directive-store.ts";
import type { Bank } from "./domain/bank.ts";
import type { ConfigValues } from "./domain/bank-config.ts";
import type { IdempotencyStore } from "./idempotency-store.ts";

/** Everything that the bank service keeps. The parts share one file or database, so one write may span them. */
export interface BankStorage extends AsyncDisposable {
  readonly banks: BankStore;
  readonly directives: DirectiveStore;
  readonly audit: AuditStore;
  readonly idempotency: IdempotencyStore;
  readonly jobs: JobStore;
  /** Carries the events that `bury` has written to the bus. */
  createRelay(deps: { readonly bus: EventBus; readonly log: Logger }): OutboxRelay;
  /** Throws `unavailable` when nothing can be read any more. */
  ping(): Promise<void>;
}

/**
 * Banks by incarnation, tombstones of dead ones, and the tenant layer of the configuration.
 *
 * Each call is atomic. Ids compare byte for byte, so "A" and "a" are two banks. A bank is live until it is buried; only live banks
 * are found, listed or changed. A `change` is pure and may be called more than once; what it throws comes out unchanged, and
 * then nothing was written. When it answers the very bank it was given, nothing is written either.
 */
export interface BankStore {
  findById(tenantId: string, bankId: string): Promise<Bank | undefined>;
  findByUid(bankUid: string): Promise<Bank | undefined>;
  /** By ascending id, in the order of code units of its UTF-8 form. */
  list(query: BankQuery): Promise<BankPage>;
  /**
   * Adds `seed` unless its tenant has a live bank of that id, then applies `change` to what is there. Of any number of calls
   * at once exactly one adds, and no change is lost.
   */
  put(seed: Bank, change: (bank: Bank) => Bank): Promise<Bank>;
  /** `undefined` when there is no such live bank. */
  update(tenantId: string, bankId: string, change: (bank: Bank) => Bank): Promise<Bank | undefined>;

  /**
   * Ends an incarnation: leaves a tombstone, adds the job and appends the events, all or nothing. From then on its id is free
   * for another one. `undefined` when there is no such live bank. The tombstone keeps the whole bank until the purge.
   */
  bury(burial: Burial): Promise<Bank | undefined>;
  /** The youngest tombstone under a public id. */
  findTombstone(tenantId: string, bankId: string): Promise<Tombstone | undefined>;
  /**
   * Deletes at most `PURGE_ROWS_MAX` directives and audit entries of a dead bank, at last its profile. True when nothing is left
   * but a tombstone with what `remainsOf` says; true for an unknown uid, too. A live bank is `failed_precondition`, `BANK_ALIVE`.
   */
  purge(bankUid: string): Promise<boolean>;
  /** Forgets at most `TOMBSTONES_MAX` purged tombstones that are older than the instant; answers their uids. */
  forgetTombstones(beforeUs: number): Promise<readonly string[]>;

  /** The tenant layer that was set last, `undefined` when none was. */
  findTenantConfig(tenantId: string): Promise<ConfigValues | undefined>;
  setTenantConfig(tenantId: string, values: ConfigValues): Promise<void>;
}

export interface BankQuery {
  readonly tenantId: string;
  /** Keeps banks whose id or name contains it, ignoring case. */
  readonly contains?: string | undefined;
  /** Keeps these banks only; `null` keeps all. */
  readonly allowedBankIds: readonly string[] | null;
  /** 0 to `BANK_PAGE_MAX`. */
  readonly limit: number;
  readonly offset: number;
}

export interface BankPage {
  readonly banks: readonly Bank[];
  /** All matches, whatever the page. */
  readonly total: number;
}

export interface Burial {
  readonly tenantId: string;
  readonly bankId: string;
  readonly deletedAtUs: number;
  readonly jobs: (bank: Bank) => readonly NewJob[];
  readonly events: (bank: Bank) => readonly DomainEvent[];
}

export interface Tombstone {
  readonly bank: Bank;
  readonly deletedAtUs: number;
}

// A bank is about 300 bytes on the wire; this many stay well below the largest message.
export const BANK_PAGE_MAX = 20_000;
// One write holds up the others of the file; this many rows go in some ten milliseconds.
export const PURGE_ROWS_MAX = 1_000;
export const TOMBSTONES_MAX = 100; // each brings a purge of its job records with it
