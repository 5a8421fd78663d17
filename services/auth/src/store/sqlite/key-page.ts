import type { SqliteTx } from "@memory-bank/storage";
import type { KeyPage, KeyQuery } from "../../auth-store.ts";
import type { KeyVisibility } from "../../domain/key-management.ts";
import { type KeyRow, keyColumns, keyFromRow } from "./key-row.ts";

const fromKeys = "FROM api_keys k LEFT JOIN api_keys p ON p.key_id = k.parent_key_id";
const newestFirst = "ORDER BY k.created_at_us DESC, k.key_id DESC LIMIT :limit OFFSET :offset";

export function selectPage(tx: SqliteTx, query: KeyQuery): KeyPage {
  const { where, params } = conditionsOf(query);
  const total = tx.get<{ total: number }>(`SELECT count(*) AS total ${fromKeys} WHERE ${where}`, params)?.total ?? 0;
  const { limit, offset } = query;
  const rows = tx.all<KeyRow>(`SELECT ${keyColumns} ${fromKeys} WHERE ${where} ${newestFirst}`, { ...params, limit, offset });
  return { items: rows.map(keyFromRow), total };
}

export function selectKeyIds(tx: SqliteTx, query: KeyQuery): string[] {
  const { where, params } = conditionsOf(query);
  const { limit, offset } = query;
  const rows = tx.all<{ key_id: string }>(`SELECT k.key_id ${fromKeys} WHERE ${where} ${newestFirst}`, {
    ...params,
    limit,
    offset,
  });
  return rows.map((row) => row.key_id);
}

const isVisible: Readonly<Record<KeyVisibility["kind"], string>> = {
  tenant: "TRUE",
  tenant_children: "k.parent_key_id IS NOT NULL",
  self_and_children: "(k.key_id = :keyId OR k.parent_key_id = :keyId)",
  children: "k.parent_key_id = :keyId",
};

const isRevoked = "(k.revoked_at_us IS NOT NULL OR p.revoked_at_us IS NOT NULL)";
const isExpired = "(ifnull(k.expires_at_us <= :nowUs, FALSE) OR ifnull(p.expires_at_us <= :nowUs, FALSE))";
const hasStatus = {
  active: `NOT ${isRevoked} AND NOT ${isExpired}`,
  expired: `NOT ${isRevoked} AND ${isExpired}`,
  revoked: isRevoked,
} as const;

/** The texts come from a small closed set, so their prepared statements stay cached. */
function conditionsOf({ tenantId, visibility, status, nowUs }: KeyQuery) {
  const conditions = ["k.tenant_id = :tenantId", isVisible[visibility.kind], ...(status === null ? [] : [hasStatus[status]])];
  const params = {
    tenantId,
    ...("keyId" in visibility ? { keyId: visibility.keyId } : {}),
    ...(status === "active" || status === "expired" ? { nowUs } : {}),
  };
  return { where: conditions.join(" AND "), params };
}
