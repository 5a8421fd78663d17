import { keyToProto, scopedKeyRequestFromProto } from "../convert.ts";
import { newScopedKey } from "../domain/new-key.ts";
import { issueKey } from "../issue-key.ts";
import { requireLiveCaller } from "../live-caller.ts";
import type { AuthRpc, HandlerDeps } from "./deps.ts";

export const createCreateScopedApiKeyHandler =
  (deps: HandlerDeps): AuthRpc["createScopedApiKey"] =>
  async (ctx, request) => {
    const nowUs = deps.nowUs();
    const parent = await requireLiveCaller(deps.store, ctx, nowUs);
    const newKey = newScopedKey(parent, scopedKeyRequestFromProto(request), nowUs);
    const { key, credential, apiKey } = issueKey(deps, newKey, nowUs);
    await deps.store.insertKey(key, credential);
    deps.metrics.created("scoped");
    return { key: keyToProto({ key, parent }, nowUs), apiKey };
  };
