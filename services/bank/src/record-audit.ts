import { AppError } from "@memory-bank/errors";
import { AUDIT_BATCH_MAX } from "./audit-store.ts";
import type { HandlerDeps } from "./deps.ts";
import { type AuditEntry, DELETE_BANK_ACTION, type FiledAuditEntry } from "./domain/audit.ts";
import { type ConfigValues, resolveKey } from "./domain/bank-config.ts";

type AuditDeps = Pick<HandlerDeps, "storage" | "upperLayers">;

/**
 * Keeps the entries of callers whose `audit_log_enabled` resolves true; durable when it answers, and idempotent by id. Entries
 * of a bank that is gone are dropped, as is what was done to an earlier incarnation, but a deletion is kept with the tenant.
 */
export async function recordAudit(deps: AuditDeps, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > AUDIT_BATCH_MAX) {
    throw new AppError("invalid_argument", "BATCH_TOO_LARGE", `At most ${AUDIT_BATCH_MAX} audit entries at once`);
  }
  const anonymous = entries.find(({ id, tenantId }) => id === "" || tenantId === "");
  if (anonymous) throw new AppError("invalid_argument", "INVALID_ENTRY", "An audit entry needs an id and a tenant");

  const placeOf = createPlaceFinder(deps);
  const filed: FiledAuditEntry[] = [];
  for (const entry of entries) {
    const place = await placeOf(entry);
    if (place && (await isAudited(deps, entry.tenantId, place.overrides))) filed.push({ ...entry, bankUid: place.bankUid });
  }
  await deps.storage.audit.insert(filed);
}

interface Place {
  readonly bankUid: string | null;
  /** Of the bank whose configuration decides. */
  readonly overrides: ConfigValues;
}

/** Finds where entries belong, looking each bank up once. */
function createPlaceFinder({ storage }: AuditDeps): (entry: AuditEntry) => Promise<Place | undefined> {
  const known = new Map<string, ReturnType<typeof lookUp>>();
  const lookUp = async (tenantId: string, bankId: string) => ({
    live: await storage.banks.findById(tenantId, bankId),
    dead: await storage.banks.findTombstone(tenantId, bankId),
  });
  return async ({ tenantId, bankId, action, endedAtUs }) => {
    if (bankId === null) return { bankUid: null, overrides: {} };
    const key = JSON.stringify([tenantId, bankId]);
    const found = known.get(key) ?? lookUp(tenantId, bankId);
    known.set(key, found);
    const { live, dead } = await found;
    if (action === DELETE_BANK_ACTION) return { bankUid: null, overrides: dead?.bank.overrides ?? {} };
    const isOfDead = dead !== undefined && endedAtUs <= dead.deletedAtUs;
    return live && !isOfDead ? live : undefined;
  };
}

async function isAudited({ upperLayers }: AuditDeps, tenantId: string, overrides: ConfigValues): Promise<boolean> {
  const { global, tenant } = await upperLayers(tenantId);
  return resolveKey("audit_log_enabled", global, tenant, overrides) === true;
}
