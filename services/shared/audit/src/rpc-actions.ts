import { digest, isObject, type JsonObject } from "./redact.ts";

/** What a call is named in the log, and what is left of its messages when the text of memories must not live on there. */
export interface RpcAction {
  readonly action: string;
  readonly keptRequest?: (request: JsonObject) => unknown;
  readonly keptResponse?: (response: JsonObject) => unknown;
}

const named = (action: string): RpcAction => ({ action });

/** By method name; names mean the same in every service. A method that is not here only reads, and leaves no entry. */
export const rpcActions: Readonly<Record<string, RpcAction>> = {
  CreateApiKey: named("create_api_key"),
  CreateScopedApiKey: named("create_scoped_api_key"),
  RevokeApiKey: named("revoke_api_key"),

  PutBank: named("create_bank"),
  PatchBank: named("update_bank"),
  DeleteBank: named("delete_bank"),
  PatchBankConfig: named("update_bank_config"),
  ResetBankConfig: named("reset_bank_config"),
  CreateDirective: named("create_directive"),
  UpdateDirective: named("update_directive"),
  DeleteDirective: named("delete_directive"),

  Retain: { action: "retain", keptRequest: withDigestedItems },
  Recall: { action: "recall", keptResponse: ({ results }) => ({ ids: idsOf(results) }) },
  UpdateMemory: { action: "update_memory", keptRequest: digested("text"), keptResponse: digested("text") },
  ClearMemories: named("clear_memories"),
  ClearMemoryObservations: named("clear_memory_observations"),
  ClearObservations: named("clear_observations"),
  UpdateDocument: named("update_document"),
  DeleteDocument: named("delete_document"),
  ReprocessDocument: named("reprocess_document"),
  Consolidate: named("consolidation"),
  RecoverConsolidation: named("recover_consolidation"),
  CancelOperation: named("cancel_operation"),
  RetryOperation: named("retry_operation"),
  DeleteOperation: named("delete_operation"),

  Reflect: {
    action: "reflect",
    keptResponse: ({ basedOn }) => ({ ids: isObject(basedOn) ? Object.values(basedOn).flatMap(idsOf) : [] }),
  },
  CreateMentalModel: named("create_mental_model"),
  UpdateMentalModel: { action: "update_mental_model", keptResponse: digested("content", "reflectResponse") },
  DeleteMentalModel: named("delete_mental_model"),
  RefreshMentalModel: named("refresh_mental_model"),
  ClearMentalModel: named("clear_mental_model"),

  CreateWebhook: named("create_webhook"),
  UpdateWebhook: named("update_webhook"),
  DeleteWebhook: named("delete_webhook"),
  RedeliverDelivery: named("redeliver_webhook"),
  RedeliverFailed: named("redeliver_webhook"),
  TestWebhook: named("test_webhook"),
};

/** The action of a method path such as `/memorybank.bank.v1.BankService/PutBank`. */
export function rpcActionOf(path: string): RpcAction | undefined {
  return rpcActions[path.slice(path.lastIndexOf("/") + 1)];
}

/** A retain without the texts of its items. */
export function withDigestedItems(request: JsonObject): JsonObject {
  const { items } = request;
  if (!Array.isArray(items)) return request;
  const content = digested("content");
  return { ...request, items: items.map((item: unknown) => (isObject(item) ? content(item) : item)) };
}

function digested(...names: readonly string[]): (message: JsonObject) => JsonObject {
  return (message) => {
    const given = names.filter((name) => Object.hasOwn(message, name));
    return { ...message, ...Object.fromEntries(given.map((name) => [name, digest(message[name])])) };
  };
}

function idsOf(list: unknown): unknown[] {
  return Array.isArray(list) ? list.filter(isObject).map(({ id }) => id) : [];
}
