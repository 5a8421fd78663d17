import type { Role } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { type ApiKey, type Capability, capabilities, createScopedKeys, isWithinScope, managesKeys, roles } from "./api-key.ts";
import {
  createFaults,
  emptyList,
  type Faults,
  lengthFault,
  missing,
  notOneOf,
  tooLarge,
  tooLongList,
  tooSmall,
  wrongPattern,
  wrongValue,
} from "./faults.ts";

/** What a creation decides about a key; the rest (id, secret, time) is not a matter of rules. */
export type NewKey = Pick<
  ApiKey,
  "tenantId" | "name" | "role" | "capabilities" | "allowedBankIds" | "parentKeyId" | "metadata" | "expiresAtUs"
>;

/** Describes a top-level key as the caller asked for it; `null` means that the caller said nothing. */
export interface KeyRequest {
  readonly name: string;
  readonly expiration: string | null;
  readonly expiresInDays: number | null;
  readonly allowedBankIds: readonly string[] | null;
  readonly capabilities: readonly string[];
  readonly role: string | null;
}

/** Describes a child key as the caller asked for it. */
export interface ScopedKeyRequest {
  readonly name: string;
  readonly allowedBankIds: readonly string[];
  readonly expiresInDays: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const hourUs = 3_600_000_000;
const dayUs = 24 * hourUs;
const nameLengthMax = 255;
const bankIdLengthMax = 255;
const scopedDaysMax = 365;
const customDaysMax = 36_500; // a century, so that every instant stays within what integers of 53 bits hold
const metadataBytesMax = 4_096;
/** The list travels with every call of the key as request metadata, which HTTP/2 peers commonly bound at 64 KiB. */
const allowedBanksMax = 1_000;
const allowedBanksBytesMax = 32_768;

const lifetimesUs: Readonly<Record<string, number | null>> = {
  never: null,
  "1h": hourUs,
  "1d": dayUs,
  "7d": 7 * dayUs,
  "30d": 30 * dayUs,
  "90d": 90 * dayUs,
  "1y": 365 * dayUs,
};
const expirations = [...Object.keys(lifetimesUs), "custom"];

/**
 * Decides a top-level key. `permission_denied` unless the creator is an owner or admin, covers the asked banks, and is an
 * owner when the new key is to be owner or admin; `invalid_argument` with every fault of the request.
 */
export function newTopLevelKey(creator: ApiKey, request: KeyRequest, nowUs: number): NewKey {
  if (!managesKeys(creator)) throw denied("NOT_A_MANAGER", "Only Owners and Admins can manage API keys");
  const faults = createFaults();
  const name = checkedName(request.name, faults);
  const expiresAtUs = expiryOf(request, nowUs, faults);
  const allowedBankIds = request.allowedBankIds && checkedBankIds(request.allowedBankIds, faults);
  const granted = checkedCapabilities(request.capabilities, faults);
  const role = checkedRole(request.role ?? "member", faults);
  faults.throwAny();

  if (role !== "member" && creator.role !== "owner") {
    throw denied("NOT_AN_OWNER", "Only Owners can create owner and admin keys");
  }
  if (!isWithinScope(allowedBankIds, creator.allowedBankIds)) {
    throw denied("SCOPE_TOO_WIDE", "allowed_bank_ids must be a subset of the creator key's banks");
  }
  const { tenantId } = creator;
  return { tenantId, name, role, capabilities: granted, allowedBankIds, parentKeyId: null, metadata: {}, expiresAtUs };
}

/**
 * Decides a child key: a member, without capabilities, on a subset of the parent's banks, and not past the parent's expiry.
 * `permission_denied` when the parent lacks the capability or the banks; `invalid_argument` with every fault of the request.
 */
export function newScopedKey(parent: ApiKey, request: ScopedKeyRequest, nowUs: number): NewKey {
  if (!parent.capabilities.includes(createScopedKeys)) {
    throw denied("CAPABILITY_MISSING", `API key lacks the ${createScopedKeys} capability`);
  }
  const faults = createFaults();
  const name = checkedName(request.name, faults);
  const allowedBankIds = checkedBankIds(request.allowedBankIds, faults);
  const expiresAtUs = scopedExpiryOf(parent, request.expiresInDays, nowUs, faults);
  if (Buffer.byteLength(JSON.stringify(request.metadata)) > metadataBytesMax) {
    faults.add(wrongValue(["body", "metadata"], request.metadata, `metadata must be at most ${metadataBytesMax} bytes of JSON`));
  }
  faults.throwAny();

  if (!isWithinScope(allowedBankIds, parent.allowedBankIds)) {
    throw denied("SCOPE_TOO_WIDE", "allowed_bank_ids must be a subset of the parent key's banks");
  }
  const { tenantId, keyId: parentKeyId } = parent;
  const { metadata } = request;
  return { tenantId, name, role: "member", capabilities: [], allowedBankIds, parentKeyId, metadata, expiresAtUs };
}

/** The first key of a tenant: an owner without restrictions. */
export function newOwnerKey(tenantId: string, ownerKeyName: string): NewKey {
  const faults = createFaults();
  const fault = lengthFault(["body", "owner_key_name"], ownerKeyName, nameLengthMax);
  if (fault) faults.add(fault);
  const tenantPattern = "^[A-Za-z0-9._-]{1,64}$";
  if (!new RegExp(tenantPattern).test(tenantId)) faults.add(wrongPattern(["body", "tenant_id"], tenantId, tenantPattern));
  faults.throwAny();
  const scope = { allowedBankIds: null, parentKeyId: null, metadata: {}, expiresAtUs: null };
  return { tenantId, name: ownerKeyName, role: "owner", capabilities: [createScopedKeys], ...scope };
}

const denied = (reason: string, message: string) => new AppError("permission_denied", reason, message);

function checkedName(given: string, faults: Faults): string {
  const name = given.toWellFormed().replaceAll("\0", "");
  const fault = lengthFault(["body", "name"], name, nameLengthMax);
  if (fault) faults.add(fault);
  return name;
}

function expiryOf({ expiration, expiresInDays }: KeyRequest, nowUs: number, faults: Faults): number | null {
  const location = ["body", "expires_in_days"];
  const choice = expiration ?? "never";
  if (choice === "custom") {
    if (expiresInDays === null) faults.add(missing(location));
    else checkDays(expiresInDays, customDaysMax, faults);
    return nowUs + (expiresInDays ?? 0) * dayUs;
  }
  if (expiresInDays !== null) faults.add(wrongValue(location, expiresInDays, "expires_in_days needs expiration 'custom'"));
  if (!Object.hasOwn(lifetimesUs, choice)) faults.add(notOneOf(["body", "expiration"], choice, expirations));
  const lifetimeUs = lifetimesUs[choice] ?? null;
  return lifetimeUs === null ? null : nowUs + lifetimeUs;
}

function scopedExpiryOf(parent: ApiKey, days: number, nowUs: number, faults: Faults): number {
  checkDays(days, scopedDaysMax, faults);
  const expiresAtUs = nowUs + days * dayUs;
  if (days >= 1 && days <= scopedDaysMax && parent.expiresAtUs !== null && expiresAtUs > parent.expiresAtUs) {
    faults.add(wrongValue(["body", "expires_in_days"], days, "expires_in_days must not exceed the parent key's expiry"));
  }
  return expiresAtUs;
}

function checkDays(days: number, max: number, faults: Faults): void {
  const location = ["body", "expires_in_days"];
  if (days < 1) faults.add(tooSmall(location, days, 1));
  else if (days > max) faults.add(tooLarge(location, days, max));
}

const bankIdPattern = "^[^/\\p{Cc}]+$";
const bankIdRegExp = new RegExp(bankIdPattern, "u");

function checkedBankIds(given: readonly string[], faults: Faults): readonly string[] {
  const location = ["body", "allowed_bank_ids"];
  const bankIds = [...new Set(given)];
  if (bankIds.length === 0) faults.add(emptyList(location));
  if (bankIds.length > allowedBanksMax) faults.add(tooLongList(location, bankIds, allowedBanksMax));
  else if (Buffer.byteLength(JSON.stringify(bankIds)) > allowedBanksBytesMax) {
    faults.add(wrongValue(location, bankIds, `allowed_bank_ids must be at most ${allowedBanksBytesMax} bytes of JSON`));
  } else {
    for (const [index, bankId] of given.entries()) {
      const fault = lengthFault([...location, index], bankId, bankIdLengthMax) ?? bankIdFault([...location, index], bankId);
      if (fault) faults.add(fault);
    }
  }
  return bankIds;
}

function bankIdFault(location: readonly (string | number)[], bankId: string) {
  return bankIdRegExp.test(bankId) && bankId.isWellFormed() ? undefined : wrongPattern(location, bankId, bankIdPattern);
}

function checkedCapabilities(given: readonly string[], faults: Faults): readonly Capability[] {
  for (const [index, capability] of given.entries()) {
    if (!isOneOf(capabilities, capability)) faults.add(notOneOf(["body", "capabilities", index], capability, capabilities));
  }
  return capabilities.filter((capability) => given.includes(capability));
}

function checkedRole(role: string, faults: Faults): Role {
  if (isOneOf(roles, role)) return role;
  faults.add(notOneOf(["body", "role"], role, roles));
  return "member";
}

function isOneOf<V extends string>(values: readonly V[], value: string): value is V {
  return (values as readonly string[]).includes(value);
}
