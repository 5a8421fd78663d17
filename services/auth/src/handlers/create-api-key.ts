import { keyRequestFromProto, keyToProto } from "../convert.ts";
import { newTopLevelKey } from "../domain/new-key.ts";
import { issueKey } from "../issue-key.ts";
import { requireLiveCaller } from "../live-caller.ts";
import type { AuthRpc, HandlerDeps } from "./deps.ts";

export const createCreateApiKeyHandler =
  (deps: HandlerDeps): AuthRpc["createApiKey"] =>
  async (ctx, request) => {
    const nowUs = deps.nowUs();
    const creator = await requireLiveCaller(deps.store, ctx, nowUs);
    const newKey = newTopLevelKey(creator, keyRequestFromProto(request), nowUs);
    const { key, credential, apiKey } = issueKey(deps, newKey, nowUs);
    await deps.store.insertKey(key, credential);
    deps.metrics.created("top_level");
    return { key: keyToProto({ key, parent: null }, nowUs), apiKey };
  };
