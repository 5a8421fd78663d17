import { AppError } from "@memory-bank/errors";
import type { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import type { Rpc } from "@memory-bank/rpc";
import { httpConfigFromProto, webhookToProto } from "../convert.ts";
import { checkedEventTypes } from "../domain/event-types.ts";
import { changedTarget, newTarget, type TargetChange, touchesTarget } from "../domain/target.ts";
import type { Webhook } from "../domain/webhook.ts";
import { findBankUid, getBankUid, type HandlerDeps } from "./deps.ts";

type WebhookHandlers = Pick<
  Rpc<typeof WebhookServiceService>,
  "createWebhook" | "listWebhooks" | "updateWebhook" | "deleteWebhook"
>;

/** Registering, showing, editing and removing webhooks. */
export function createWebhookHandlers(deps: HandlerDeps): WebhookHandlers {
  const { store, vault, allowList, nowUs, newId } = deps;
  const toProto = (webhook: Webhook) => webhookToProto(webhook, vault.open(webhook.target));

  return {
    async createWebhook(ctx, request) {
      // What the caller got wrong is told before a bank is made for it.
      const target = newTarget({ url: request.url, ...changeOf(request) }, allowList);
      const eventTypes = checkedEventTypes(request.eventTypes);
      const bankUid = await findBankUid(deps, ctx, request.bankId, true);
      if (bankUid === undefined) throw new AppError("not_found", "BANK_NOT_FOUND", `Bank '${request.bankId}' not found`);
      const createdAtUs = nowUs();
      const webhook: Webhook = {
        id: newId(),
        bankUid,
        bankId: request.bankId,
        eventTypes,
        isEnabled: request.enabled,
        target: vault.seal(newId(), target),
        createdAtUs,
        updatedAtUs: createdAtUs,
      };
      await store.insert(webhook);
      return toProto(webhook);
    },

    async listWebhooks(ctx, { bankId }) {
      const bankUid = await findBankUid(deps, ctx, bankId);
      const webhooks = bankUid === undefined ? [] : await store.list(bankUid);
      return { webhooks: webhooks.map(toProto) };
    },

    async updateWebhook(ctx, request) {
      const bankUid = await getBankUid(deps, ctx, request.bankId);
      const change = changeOf(request);
      const { enabled } = request;
      const eventTypes = request.eventTypes && checkedEventTypes(request.eventTypes.values);
      const isChange = touchesTarget(change) || enabled !== undefined || eventTypes !== undefined;
      const updatedAtUs = nowUs();
      const changedSealed = ({ target }: Webhook) =>
        touchesTarget(change) ? vault.seal(newId(), changedTarget(vault.open(target), change, allowList, updatedAtUs)) : target;
      const webhook = await store.update(bankUid, request.webhookId, (current) => ({
        ...current,
        eventTypes: eventTypes ?? current.eventTypes,
        isEnabled: enabled ?? current.isEnabled,
        target: changedSealed(current),
        updatedAtUs: isChange ? updatedAtUs : current.updatedAtUs,
      }));
      if (webhook.isEnabled) deps.nudge([webhook.id]); // deliveries that were held may be due
      return toProto(webhook);
    },

    async deleteWebhook(ctx, { bankId, webhookId }) {
      await store.remove(await getBankUid(deps, ctx, bankId), webhookId);
      return {};
    },
  };
}

interface GivenMembers {
  readonly url?: string | undefined;
  readonly secret?: string | undefined;
  readonly clearSecret?: boolean;
  readonly httpConfig?: Parameters<typeof httpConfigFromProto>[0] | undefined;
}

function changeOf({ url, secret, clearSecret, httpConfig }: GivenMembers): TargetChange {
  return {
    ...(url === undefined ? {} : { url }),
    ...(clearSecret ? { secret: null } : secret === undefined ? {} : { secret }),
    ...(httpConfig === undefined ? {} : { httpConfig: httpConfigFromProto(httpConfig) }),
  };
}
