import type { AllowList } from "./domain/allow-list.ts";
import { defaultHttpConfig } from "./domain/http-config.ts";
import { newTarget } from "./domain/target.ts";
import type { TargetVault } from "./domain/target-vault.ts";
import { SERVER_BANK_UID, SERVER_WEBHOOK_ID, type Target } from "./domain/webhook.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** The webhook that an operator configures for the whole server. */
export interface ServerWebhook {
  readonly url: string;
  readonly secret: string | null;
  readonly eventTypes: readonly string[];
}

export interface ServerWebhookDeps {
  readonly store: Pick<WebhookStore, "setServerWebhook">;
  readonly vault: TargetVault;
  readonly allowList: AllowList;
  readonly serverWebhook: ServerWebhook | null;
  readonly nowUs: () => number;
  readonly newId: () => string;
}

/** Makes the stored webhook what the configuration says; deliveries of one that is configured no more are held. */
export async function setUpServerWebhook(deps: ServerWebhookDeps): Promise<void> {
  const { store, vault, allowList, serverWebhook, nowUs, newId } = deps;
  const target = serverWebhook && newTarget({ ...serverWebhook, httpConfig: defaultHttpConfig }, allowList);
  await store.setServerWebhook((current) => {
    if (!serverWebhook || !target) return current && { ...current, isEnabled: false };
    const isSame = current !== undefined && isSameTarget(vault.open(current.target), target);
    return {
      id: SERVER_WEBHOOK_ID,
      bankUid: SERVER_BANK_UID,
      bankId: "",
      eventTypes: serverWebhook.eventTypes,
      isEnabled: true,
      target: isSame ? current.target : vault.seal(newId(), target),
      createdAtUs: current?.createdAtUs ?? nowUs(),
      updatedAtUs: nowUs(),
    };
  });
}

const isSameTarget = (one: Target, other: Target) => one.url === other.url && one.secret === other.secret;
