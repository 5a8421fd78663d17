import { AppError } from "@memory-bank/errors";
import { keyToProto } from "../convert.ts";
import { defaultTenantId } from "../domain/api-key.ts";
import { newOwnerKey } from "../domain/new-key.ts";
import { issueKey } from "../issue-key.ts";
import type { AuthInternalRpc, HandlerDeps } from "./deps.ts";

export const createCreateTenantHandler =
  (deps: HandlerDeps): AuthInternalRpc["createTenant"] =>
  async (_ctx, { tenantId, ownerKeyName }) => {
    const nowUs = deps.nowUs();
    const { key, credential, apiKey } = issueKey(deps, newOwnerKey(tenantId, ownerKeyName), nowUs);
    if (tenantId === defaultTenantId) {
      throw new AppError("already_exists", "TENANT_EXISTS", `Tenant '${tenantId}' already exists`, { details: { tenantId } });
    }
    await deps.store.insertTenant({ tenantId, createdAtUs: nowUs }, key, credential);
    deps.metrics.created("tenant");
    return { key: keyToProto({ key, parent: null }, nowUs), apiKey };
  };
