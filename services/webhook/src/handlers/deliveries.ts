import { requireAwaited } from "@memory-bank/context";
import type { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import type { Rpc } from "@memory-bank/rpc";
import { deliveryToProto } from "../convert.ts";
import { testNotification } from "../domain/test-notification.ts";
import { dueNow, getBankUid, type HandlerDeps } from "./deps.ts";

type DeliveryHandlers = Pick<
  Rpc<typeof WebhookServiceService>,
  "listDeliveries" | "redeliverDelivery" | "redeliverFailed" | "testWebhook"
>;

/** The history of a webhook, and sending again. */
export function createDeliveryHandlers(deps: HandlerDeps): DeliveryHandlers {
  const { store, vault } = deps;
  const queued = (webhookId: string, count: number) => {
    if (count > 0) deps.nudge([webhookId]);
    return { queued: count };
  };

  return {
    async listDeliveries(ctx, { bankId, webhookId, limit, beforeUs }) {
      const bankUid = await getBankUid(deps, ctx, bankId);
      const page = await store.listDeliveries({ bankUid, webhookId, limit, ...(beforeUs === undefined ? {} : { beforeUs }) });
      return {
        deliveries: page.deliveries.map((delivery) => deliveryToProto(delivery, vault.open(delivery.target).url)),
        ...(page.nextBeforeUs === null ? {} : { nextBeforeUs: page.nextBeforeUs }),
      };
    },

    async redeliverDelivery(ctx, { bankId, webhookId, deliveryId }) {
      const bankUid = await getBankUid(deps, ctx, bankId);
      return queued(webhookId, await store.redeliver({ bankUid, webhookId, deliveryId, ...dueNow(deps) }));
    },

    async redeliverFailed(ctx, { bankId, webhookId, sinceUs }) {
      const bankUid = await getBankUid(deps, ctx, bankId);
      let total = 0;
      for (;;) {
        requireAwaited(ctx, deps.nowUs() / 1_000);
        const count = await store.redeliverFailed({ bankUid, webhookId, sinceUs, ...dueNow(deps) });
        if (count === 0) return queued(webhookId, total);
        total += count;
      }
    },

    async testWebhook(ctx, { bankId, webhookId }) {
      const bankUid = await getBankUid(deps, ctx, bankId);
      const notification = testNotification({
        bankUid,
        bankId,
        webhookId,
        id: deps.newId(),
        nowUs: deps.nowUs(),
        traceparent: ctx.traceparent ?? null,
      });
      return queued(webhookId, await store.enqueueFor(bankUid, webhookId, notification, dueNow(deps)));
    },
  };
}
