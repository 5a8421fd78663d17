import type { DomainEvent, EventBus } from "@memory-bank/events";
import { systemTimers, type Timers } from "@memory-bank/lifecycle";
import { WebhookInternalServiceService, WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { implement, type Service } from "@memory-bank/rpc";
import type { Logger, Meter } from "@memory-bank/telemetry";
import { createDispatcher } from "./delivery/dispatcher.ts";
import { createHousekeeping } from "./delivery/housekeeping.ts";
import { createLeases } from "./delivery/leases.ts";
import type { AllowList } from "./domain/allow-list.ts";
import type { Notification } from "./domain/delivery.ts";
import { createScheduleClock } from "./domain/schedule-clock.ts";
import type { TargetVault } from "./domain/target-vault.ts";
import { consolidationCompleted, memoryRetained, notificationsOfConsolidation, notificationsOfRetain } from "./events.ts";
import { createDeliveryHandlers } from "./handlers/deliveries.ts";
import type { HandlerDeps } from "./handlers/deps.ts";
import { createWebhookHandlers } from "./handlers/webhooks.ts";
import type { Sender } from "./sender/sender.ts";
import { type ServerWebhook, setUpServerWebhook } from "./server-webhook.ts";
import type { WebhookStore } from "./webhook-store.ts";

export interface WebhookServiceDeps {
  readonly store: WebhookStore;
  readonly sender: Sender;
  readonly bank: HandlerDeps["bank"];
  readonly bus: EventBus;
  readonly vault: TargetVault;
  readonly allowList: AllowList;
  /** Days for which deliveries that have ended are kept. */
  readonly deliveryRetentionDays: number;
  /** False hides what receivers answer. */
  readonly keepsResponseBodies: boolean;
  /** Hears the events of every bank; `null` when the operator has configured none. */
  readonly serverWebhook: ServerWebhook | null;
  readonly log: Logger;
  readonly meter?: Meter;
  /** Wall clock in microseconds. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  readonly monotonicMs?: () => number;
  readonly timers?: Timers;
  /** In [0, 1); spreads retries. */
  readonly random?: () => number;
}

/** Events are queued independently of each other, and those that are queued together share one disk sync. */
const EVENTS_AT_ONCE = 32;

/** Webhooks of banks: registration, history, and delivery of what other services report. */
export function createWebhookService(deps: WebhookServiceDeps): Service {
  const { store, bus, vault, log, nowUs, newId } = deps;
  const timers = deps.timers ?? systemTimers;
  const monotonicMs = deps.monotonicMs ?? (() => performance.now());
  const scheduleUs = createScheduleClock({ nowUs, monotonicMs });
  const owner = newId();
  const dispatcher = createDispatcher({
    store,
    sender: deps.sender,
    vault,
    nowUs,
    scheduleUs,
    newId,
    random: deps.random ?? Math.random,
    keepsResponseBodies: deps.keepsResponseBodies,
    timers,
    monotonicMs,
    owner,
    log,
    meter: deps.meter,
  });
  const leases = createLeases({ store, owner, isBusy: () => dispatcher.inFlight() > 0, scheduleUs, monotonicMs, timers, log });
  const housekeeping = createHousekeeping({ store, vault, retentionDays: deps.deliveryRetentionDays, nowUs, timers, log });
  const handlerDeps: HandlerDeps = {
    store,
    bank: deps.bank,
    vault,
    allowList: deps.allowList,
    nowUs,
    scheduleUs,
    newId,
    nudge: (webhookIds) => dispatcher.nudge(webhookIds),
  };

  const enqueue = async (notifications: readonly Notification[]) => {
    const { webhookIds } = await store.enqueue(notifications, { nowUs: nowUs(), dueUs: scheduleUs() });
    dispatcher.nudge(webhookIds);
  };
  const subscriptions: AsyncDisposable[] = [];

  return {
    name: "webhook",
    implementations: [
      implement(WebhookServiceService, { ...createWebhookHandlers(handlerDeps), ...createDeliveryHandlers(handlerDeps) }),
      implement(WebhookInternalServiceService, {
        fence: async (_, { bankUid }) => ({ hiddenCount: await store.fence(bankUid, nowUs()) }),
        purge: async (_, { bankUid }) => ({ done: await store.purge(bankUid) }),
      }),
    ],
    async start() {
      await setUpServerWebhook(deps);
      const subscribe = async (subject: string, handler: (event: DomainEvent) => Promise<void>) => {
        subscriptions.push(await bus.subscribe({ subject, durable: "webhook", handler, concurrency: EVENTS_AT_ONCE }));
      };
      await subscribe(memoryRetained.subject, (event) => enqueue(notificationsOfRetain(event)));
      await subscribe(consolidationCompleted.subject, (event) => enqueue(notificationsOfConsolidation(event)));
      dispatcher.start();
      leases.start();
      housekeeping.start();
    },
    async stop() {
      for (const subscription of subscriptions) await subscription[Symbol.asyncDispose]();
      await dispatcher.stop();
      await Promise.all([leases.stop(), housekeeping.stop()]);
    },
    ready: () => store.ping(),
  };
}
