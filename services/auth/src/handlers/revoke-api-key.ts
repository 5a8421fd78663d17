import { requireMayRevoke } from "../domain/key-management.ts";
import { keyRevoked } from "../events.ts";
import { requireLiveCaller } from "../live-caller.ts";
import type { AuthRpc, HandlerDeps } from "./deps.ts";

export const createRevokeApiKeyHandler =
  (deps: HandlerDeps): AuthRpc["revokeApiKey"] =>
  async (ctx, request) => {
    const nowUs = deps.nowUs();
    const caller = await requireLiveCaller(deps.store, ctx, nowUs);
    const { tenantId } = caller;
    const target = (await deps.store.find(tenantId, request.keyId))?.key;
    requireMayRevoke(caller, target, request.childrenOnly);

    const { keyId } = target;
    const trace = ctx.traceparent === undefined ? {} : { traceparent: ctx.traceparent };
    const event = keyRevoked.create({ id: deps.newId(), occurredAtUs: nowUs, payload: { keyIds: [keyId] }, ...trace });
    const revokedKeyIds = await deps.store.revoke({ tenantId, keyId, atUs: nowUs, event });
    deps.onRevoked(revokedKeyIds);
    deps.metrics.revoked();
    return { revokedKeyIds };
  };
