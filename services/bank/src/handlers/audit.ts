import { type CallContext, requireBankScope, requirePrincipal } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import { AUDIT_PAGE_MAX } from "../audit-store.ts";
import { auditEntryFromProto, auditEntryToProto, auditStatsToProto } from "../convert.ts";
import { getOwnBank, type HandlerDeps, pageOf } from "../deps.ts";
import { auditPeriod, fillBuckets } from "../domain/audit.ts";
import { recordAudit } from "../record-audit.ts";

type BankRpc = Rpc<typeof BankServiceService>;

const ENTRIES_LISTED = 50; // when the caller names no limit

export const createListAuditEntriesHandler =
  (deps: HandlerDeps): BankRpc["listAuditEntries"] =>
  async (ctx, { bankId, action, transport, startUs, endUs, ...range }) => {
    const owner =
      bankId === undefined ? { tenantId: requireTenantReader(ctx), bankUid: null } : await getOwnBank(deps, ctx, bankId);
    const { entries, total } = await deps.storage.audit.list({
      tenantId: owner.tenantId,
      bankUid: owner.bankUid,
      action,
      transport,
      startUs,
      endUs,
      ...pageOf(range, { initial: ENTRIES_LISTED, max: AUDIT_PAGE_MAX }),
    });
    return { entries: entries.map(auditEntryToProto), total };
  };

export const createGetAuditStatsHandler =
  (deps: HandlerDeps): BankRpc["getAuditStats"] =>
  async (ctx, { bankId, action, period: word }) => {
    requireBankScope(ctx, bankId);
    const period = auditPeriod(word, deps.nowUs());
    const { tenantId, bankUid } = await getOwnBank(deps, ctx, bankId);
    const counts = await deps.storage.audit.count({ tenantId, bankUid, action, period });
    return auditStatsToProto(period, fillBuckets(period, counts));
  };

export const createRecordAuditHandler =
  (deps: HandlerDeps): Rpc<typeof BankInternalServiceService>["recordAudit"] =>
  async (ctx, { entries }) => {
    const callerTenantId = ctx.principal?.tenantId ?? "";
    await recordAudit(
      deps,
      entries.map((entry) => auditEntryFromProto(entry, callerTenantId)),
    );
    return {};
  };

/** The tenant's own log tells of keys and of deleted banks, so a key that is kept to some banks does not see it. */
function requireTenantReader(ctx: CallContext): string {
  const { tenantId, role, allowedBankIds } = requirePrincipal(ctx);
  if (role === "member" || allowedBankIds !== null) {
    throw new AppError("permission_denied", "ROLE_REQUIRED", "Only Owners and Admins can read the tenant's audit log");
  }
  return tenantId;
}
