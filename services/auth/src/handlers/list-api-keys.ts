import { keyToProto } from "../convert.ts";
import type { KeyStatus } from "../domain/api-key.ts";
import { createFaults, notOneOf, tooSmall } from "../domain/faults.ts";
import { visibleKeys } from "../domain/key-management.ts";
import { requireLiveCaller } from "../live-caller.ts";
import type { AuthRpc, HandlerDeps } from "./deps.ts";

/** Keys in one answer: a larger limit is accepted and cut to this. A key may name 32 KiB of banks, a message holds 20 MiB. */
const pageKeysMax = 500;

export const createListApiKeysHandler =
  (deps: HandlerDeps): AuthRpc["listApiKeys"] =>
  async (ctx, request) => {
    const { status, limit, offset } = checked(request);
    const caller = await requireLiveCaller(deps.store, ctx, deps.nowUs());
    const visibility = visibleKeys(caller, request.childrenOnly);
    await deps.lastUse.flush(); // so that the list shows the uses that this process knows of
    const nowUs = deps.nowUs();
    const page = await deps.store.list({ tenantId: caller.tenantId, visibility, status, nowUs, limit, offset });
    return { keys: page.items.map((lineage) => keyToProto(lineage, nowUs)), total: page.total };
  };

const statusFilters: Readonly<Record<string, KeyStatus | null>> = { active: "active", revoked: "revoked", all: null };

function checked(request: { status: string; limit: number; offset: number }) {
  const faults = createFaults();
  const filter = request.status === "" ? "active" : request.status;
  if (!Object.hasOwn(statusFilters, filter)) faults.add(notOneOf(["query", "status"], filter, Object.keys(statusFilters)));
  if (request.limit < 0) faults.add(tooSmall(["query", "limit"], request.limit, 0));
  if (request.offset < 0) faults.add(tooSmall(["query", "offset"], request.offset, 0));
  faults.throwAny();
  return { status: statusFilters[filter] ?? null, limit: Math.min(request.limit, pageKeysMax), offset: request.offset };
}
