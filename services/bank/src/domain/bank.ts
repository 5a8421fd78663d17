import { isDeepStrictEqual } from "node:util";
import { AppError } from "@memory-bank/errors";
import { type ConfigValues, changeOverrides, resolveKey, type UpperLayers } from "./bank-config.ts";
import type { OverridableKey } from "./config-keys.ts";
import type { JsonObject } from "./json.ts";

/** One incarnation of a bank. Its mission and traits are configuration and live in `overrides`. */
export interface Bank {
  readonly tenantId: string;
  readonly bankId: string;
  /** Differs between a bank that was deleted and one that was made again under its id. */
  readonly bankUid: string;
  readonly name: string;
  readonly overrides: ConfigValues;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** What a call asks to change; absent members keep their value. */
export interface BankChange {
  readonly name?: string | undefined;
  /** By configuration key; null removes. */
  readonly overrides?: JsonObject | undefined;
}

export interface Disposition {
  readonly skepticism: number;
  readonly literalism: number;
  readonly empathy: number;
}

export const BANK_ID_LENGTH_MAX = 255;
export const NAME_LENGTH_MAX = 255;
const NEUTRAL_TRAIT = 3;

/** A bank as it is when nobody has said anything about it: its name is its id. */
export function newBank(parts: Pick<Bank, "tenantId" | "bankId" | "bankUid"> & { readonly nowUs: number }): Bank {
  const { nowUs, ...ids } = parts;
  requireBankId(ids.bankId);
  return { ...ids, name: ids.bankId, overrides: {}, createdAtUs: nowUs, updatedAtUs: nowUs };
}

/**
 * The bank after the change, checked against the layers above it: `invalid_argument` names every fault. A change that
 * changes nothing answers the same object, so `updatedAtUs` stays.
 */
export function changeBank(bank: Bank, change: BankChange, upper: UpperLayers, nowUs: number): Bank {
  const name = change.name ?? bank.name;
  requireBankName(name);
  const overrides = change.overrides ? changeOverrides(bank.overrides, change.overrides, upper) : bank.overrides;
  if (name === bank.name && isDeepStrictEqual(overrides, bank.overrides)) return bank;
  return { ...bank, name, overrides, updatedAtUs: nowUs };
}

/** What the bank is for, and its traits, after resolution. */
export function profileOf(bank: Bank, upper: UpperLayers): { readonly mission: string; readonly disposition: Disposition } {
  const resolved = (key: OverridableKey) => resolveKey(key, upper.global, upper.tenant, bank.overrides);
  const mission = resolved("reflect_mission");
  const trait = (name: keyof Disposition) => Number(resolved(`disposition_${name}`) ?? NEUTRAL_TRAIT);
  return {
    mission: typeof mission === "string" ? mission : "",
    disposition: { skepticism: trait("skepticism"), literalism: trait("literalism"), empathy: trait("empathy") },
  };
}

/** What a tombstone keeps of a purged bank: no text of its users, but whether its deletion is to be audited. */
export function remainsOf(bank: Bank): Bank {
  const { audit_log_enabled: isAudited } = bank.overrides;
  return { ...bank, name: bank.bankId, overrides: isAudited === undefined ? {} : { audit_log_enabled: isAudited } };
}

export function bankNotFound(bankId: string): AppError {
  return new AppError("not_found", "BANK_NOT_FOUND", `Bank '${bankId}' not found`, { details: { bankId } });
}

/** The gateway refuses such ids with a fault list; this is for callers that come without it. */
function requireBankId(bankId: string): void {
  const isValid = bankId !== "" && bankId.length <= BANK_ID_LENGTH_MAX && !/[\p{Cc}/]/u.test(bankId) && bankId.isWellFormed();
  if (!isValid) {
    const rule = `1 to ${BANK_ID_LENGTH_MAX} characters without control characters and "/"`;
    throw new AppError("invalid_argument", "INVALID_BANK_ID", `bank_id must have ${rule}`);
  }
}

function requireBankName(name: string): void {
  if (name.length > NAME_LENGTH_MAX) {
    throw new AppError("invalid_argument", "INVALID_NAME", `name must have at most ${NAME_LENGTH_MAX} characters`);
  }
}
