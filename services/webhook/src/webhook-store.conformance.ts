import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ClaimedDelivery, Notification, Settlement } from "./domain/delivery.ts";
import { deliveryId } from "./domain/delivery-id.ts";
import { SERVER_BANK_UID, SERVER_WEBHOOK_ID, type SealedTarget, WEBHOOKS_PER_BANK_MAX, type Webhook } from "./domain/webhook.ts";
import { CHANGES_PER_TRANSACTION_MAX, DUE_LANES_MAX, type WebhookStore } from "./webhook-store.ts";

type Opened = { readonly store: WebhookStore } & AsyncDisposable;

const startUs = 1_790_000_000_000_000;
const hourUs = 3_600_000_000;
const time = { nowUs: startUs, dueUs: startUs };

/** What every `WebhookStore` must do; each adapter calls it with its own `open`, which gives an empty store. */
export function describeWebhookStore(name: string, open: () => Promise<Opened>): void {
  describe(`WebhookStore: ${name}`, () => {
    describe("webhooks", () => {
      test("a webhook is found and listed as it was inserted, and only with the bank that it was made with", async () => {
        await using t = await open();
        const webhook = newWebhook({ eventTypes: ["a", "ünï"], isEnabled: false });
        await t.store.insert(webhook);
        expect(await t.store.find(webhook.bankUid, webhook.id)).toEqual(webhook);
        expect(await t.store.list(webhook.bankUid)).toEqual([webhook]);
        expect(await t.store.find(newBankUid(), webhook.id)).toBeUndefined();
        expect(await t.store.find(webhook.bankUid.toUpperCase(), webhook.id)).toBeUndefined();
      });

      test("webhooks are listed by age, and by id among those of one instant", async () => {
        await using t = await open();
        const bankUid = newBankUid();
        const made = [3, 1, 1, 2].map((us) => newWebhook({ bankUid, createdAtUs: startUs + us }));
        for (const webhook of made) await t.store.insert(webhook);
        const expected = [...made].sort((a, b) => a.createdAtUs - b.createdAtUs || (a.id < b.id ? -1 : 1));
        expect((await t.store.list(bankUid)).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      });

      test("a bank holds as many webhooks as promised and no more", async () => {
        await using t = await open();
        const bankUid = newBankUid();
        await Promise.all(Array.from({ length: WEBHOOKS_PER_BANK_MAX }, () => t.store.insert(newWebhook({ bankUid }))));
        await expect(t.store.insert(newWebhook({ bankUid }))).rejects.toMatchObject({ reason: "TOO_MANY_WEBHOOKS" });
        await t.store.insert(newWebhook());
        expect(await t.store.list(bankUid)).toHaveLength(WEBHOOKS_PER_BANK_MAX);
      });

      test("updates of two writers at once both take effect", async () => {
        await using t = await open();
        const webhook = newWebhook({ eventTypes: [] });
        await t.store.insert(webhook);
        const add = (type: string) =>
          t.store.update(webhook.bankUid, webhook.id, (current) => ({ ...current, eventTypes: [...current.eventTypes, type] }));
        await Promise.all(["a", "b", "c"].map(add));
        expect((await t.store.find(webhook.bankUid, webhook.id))?.eventTypes.toSorted()).toEqual(["a", "b", "c"]);
      });

      test("a change that throws changes nothing", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const refuse = () => {
          throw new Error("no");
        };
        await expect(t.store.update(webhook.bankUid, webhook.id, refuse)).rejects.toThrow("no");
        expect(await t.store.find(webhook.bankUid, webhook.id)).toEqual(webhook);
      });

      test("calls about a webhook that is not there, or is another bank's, are not_found", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const notFound = { code: "not_found", reason: "WEBHOOK_NOT_FOUND" };
        for (const [bankUid, webhookId] of [
          [newBankUid(), webhook.id],
          [webhook.bankUid, randomUUID()],
        ] as const) {
          const redelivery = { bankUid, webhookId, ...time };
          await expect(t.store.update(bankUid, webhookId, (same) => same)).rejects.toMatchObject(notFound);
          await expect(t.store.remove(bankUid, webhookId)).rejects.toMatchObject(notFound);
          await expect(t.store.listDeliveries({ bankUid, webhookId, limit: 1 })).rejects.toMatchObject(notFound);
          await expect(t.store.redeliver({ ...redelivery, deliveryId: randomUUID() })).rejects.toMatchObject(notFound);
          await expect(t.store.redeliverFailed({ ...redelivery, sinceUs: 0 })).rejects.toMatchObject(notFound);
          await expect(t.store.enqueueFor(bankUid, webhookId, newNotification(bankUid), time)).rejects.toMatchObject(notFound);
        }
      });

      test("a removed webhook is out of sight at once, its pending deliveries are never taken, and a sweep leaves nothing", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        await t.store.enqueue([newNotification(webhook.bankUid)], time);
        await t.store.remove(webhook.bankUid, webhook.id);
        expect(await t.store.find(webhook.bankUid, webhook.id)).toBeUndefined();
        expect(await t.store.list(webhook.bankUid)).toEqual([]);
        await expect(t.store.remove(webhook.bankUid, webhook.id)).rejects.toMatchObject({ code: "not_found" });
        expect(await claimAll(t.store, webhook.id)).toEqual([]);
        expect(await sweepAll(t.store, startUs)).toBeGreaterThan(0);
        expect(await t.store.sweep(startUs)).toBe(0);
      });
    });

    describe("queueing", () => {
      test("a notification reaches the enabled webhooks of its bank that listen to its type", async () => {
        await using t = await open();
        const bankUid = newBankUid();
        const listening = newWebhook({ bankUid });
        const others = [newWebhook({ bankUid, isEnabled: false }), newWebhook({ bankUid, eventTypes: ["x"] }), newWebhook()];
        for (const webhook of [listening, ...others]) await t.store.insert(webhook);
        const notification = newNotification(bankUid);
        expect(await t.store.enqueue([notification], time)).toEqual({ created: 1, webhookIds: [listening.id] });
        const { deliveries } = await t.store.listDeliveries({ bankUid, webhookId: listening.id, limit: 10 });
        expect(deliveries).toEqual([
          {
            id: deliveryId(notification.key, listening.id),
            webhookId: listening.id,
            target: listening.target,
            eventType: "retain.completed",
            status: "pending",
            attempts: 0,
            nextRetryAtUs: null,
            lastError: null,
            lastResponseStatus: null,
            lastResponseBody: null,
            lastAttemptAtUs: null,
            createdAtUs: startUs,
            updatedAtUs: startUs,
          },
        ]);
        for (const { bankUid: uid, id } of others) {
          expect((await t.store.listDeliveries({ bankUid: uid, webhookId: id, limit: 10 })).deliveries).toEqual([]);
        }
      });

      test("queueing the same notification again adds nothing and changes nothing", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const notification = newNotification(webhook.bankUid);
        await t.store.enqueue([notification], time);
        const [claimed] = await claimAll(t.store, webhook.id);
        await t.store.settle(claimed!.claim, completed());
        const before = await historyOf(t.store, webhook);
        expect(await t.store.enqueue([notification], { nowUs: startUs + 5, dueUs: startUs + 5 })).toEqual({
          created: 0,
          webhookIds: [],
        });
        expect(await historyOf(t.store, webhook)).toEqual(before);
      });

      test("instants of queueing are unique per webhook and rise, even while the clock stands still or goes back", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const three = () => [1, 2, 3].map(() => newNotification(webhook.bankUid));
        await t.store.enqueue(three(), time);
        await t.store.enqueue(three(), { nowUs: startUs - hourUs, dueUs: startUs });
        const instants = (await historyOf(t.store, webhook)).map(({ createdAtUs }) => createdAtUs);
        expect(instants).toEqual([5, 4, 3, 2, 1, 0].map((us) => startUs + us));
      });

      test("more notifications than one transaction holds are all queued, each exactly once", async () => {
        await using t = await open();
        const bankUid = newBankUid();
        const webhooks = Array.from({ length: 30 }, () => newWebhook({ bankUid }));
        for (const webhook of webhooks) await t.store.insert(webhook);
        const notifications = Array.from({ length: 100 }, () => newNotification(bankUid));
        const { created, webhookIds } = await t.store.enqueue(notifications, time);
        expect(created).toBe(3_000);
        expect(created).toBeGreaterThan(CHANGES_PER_TRANSACTION_MAX);
        expect(webhookIds.toSorted()).toEqual(webhooks.map(({ id }) => id).toSorted());
        expect(await historyOf(t.store, webhooks[7]!)).toHaveLength(100);
      });

      test("a delivery for one webhook ignores its types, and is not made while it is disabled", async () => {
        await using t = await open();
        const webhook = newWebhook({ eventTypes: [] });
        await t.store.insert(webhook);
        expect(await t.store.enqueueFor(webhook.bankUid, webhook.id, newNotification(webhook.bankUid), time)).toBe(1);
        await setEnabled(t.store, webhook, false);
        expect(await t.store.enqueueFor(webhook.bankUid, webhook.id, newNotification(webhook.bankUid), time)).toBe(0);
        expect(await historyOf(t.store, webhook)).toHaveLength(1);
      });

      test("the operator's webhook gets the notifications of every bank, and can be switched off and on", async () => {
        await using t = await open();
        const server = newWebhook({ id: SERVER_WEBHOOK_ID, bankUid: SERVER_BANK_UID });
        await t.store.setServerWebhook((current) => (current === undefined ? server : undefined));
        const queue = async () => (await t.store.enqueue([newNotification(newBankUid())], time)).webhookIds;
        expect(await queue()).toEqual([SERVER_WEBHOOK_ID]);
        await t.store.setServerWebhook((current) => ({ ...current!, isEnabled: false }));
        expect(await queue()).toEqual([]);
        await t.store.setServerWebhook(() => undefined);
        expect(await queue()).toEqual([]);
        await t.store.setServerWebhook((current) => ({ ...current!, isEnabled: true }));
        expect(await queue()).toEqual([SERVER_WEBHOOK_ID]);
      });
    });

    describe("history", () => {
      test("pages go from the newest to the oldest without a gap or a repetition, and end with null", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const notifications = Array.from({ length: 7 }, () => newNotification(webhook.bankUid));
        await t.store.enqueue(notifications, time);
        const seen: string[] = [];
        let beforeUs: number | undefined;
        for (const size of [3, 3, 1]) {
          const query = {
            bankUid: webhook.bankUid,
            webhookId: webhook.id,
            limit: 3,
            ...(beforeUs === undefined ? {} : { beforeUs }),
          };
          const page = await t.store.listDeliveries(query);
          expect(page.deliveries).toHaveLength(size);
          expect(page.nextBeforeUs).toBe(size === 3 ? page.deliveries.at(-1)!.createdAtUs : null);
          seen.push(...page.deliveries.map(({ id }) => id));
          beforeUs = page.nextBeforeUs ?? undefined;
        }
        expect(seen).toEqual(notifications.map(({ key }) => deliveryId(key, webhook.id)).reverse());
      });

      test("a page that ends with the last delivery says so", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        await t.store.enqueue([newNotification(webhook.bankUid), newNotification(webhook.bankUid)], time);
        const page = await t.store.listDeliveries({ bankUid: webhook.bankUid, webhookId: webhook.id, limit: 2 });
        expect(page).toMatchObject({ nextBeforeUs: null, deliveries: [{}, {}] });
      });

      test("a delivery keeps the target that was current when it was queued", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        await t.store.enqueue([newNotification(webhook.bankUid)], time);
        const target = newTarget();
        await t.store.update(webhook.bankUid, webhook.id, (current) => ({ ...current, target }));
        await t.store.enqueue([newNotification(webhook.bankUid)], time);
        expect((await historyOf(t.store, webhook)).map((delivery) => delivery.target)).toEqual([target, webhook.target]);
        expect((await claimAll(t.store, webhook.id)).map((delivery) => delivery.target)).toEqual([webhook.target, target]);
      });
    });

    describe("attempts", () => {
      test("a claim brings what was queued, in the order in which it is due, and nobody else gets it", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const [late, early, future] = [2, 1, 1_000].map((us) => ({
          notification: newNotification(webhook.bankUid),
          dueUs: startUs + us,
        }));
        for (const { notification, dueUs } of [late!, early!, future!])
          await t.store.enqueue([notification], { nowUs: startUs, dueUs });
        const claimed = await claimAll(t.store, webhook.id, { dueUs: startUs + 10 });
        expect(claimed.map(({ claim }) => claim.deliveryId)).toEqual(
          [early, late].map((one) => deliveryId(one!.notification.key, webhook.id)),
        );
        expect(claimed[0]).toMatchObject({ eventType: "retain.completed", roundAttempts: 0, traceparent: "00-trace" });
        expect(Buffer.from(claimed[0]!.body)).toEqual(Buffer.from(early!.notification.body));
        expect((await historyOf(t.store, webhook)).map(({ status }) => status).toSorted()).toEqual([
          "pending",
          "processing",
          "processing",
        ]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + 10, owner: "other" })).toEqual([]);
      });

      test("a claim takes no more than it is told from each webhook", async () => {
        await using t = await open();
        const bankUid = newBankUid();
        const [one, two] = [newWebhook({ bankUid }), newWebhook({ bankUid })];
        for (const webhook of [one, two]) await t.store.insert(webhook);
        await t.store.enqueue(
          [1, 2, 3].map(() => newNotification(bankUid)),
          time,
        );
        const lanes = [
          { webhookId: one.id, limit: 2 },
          { webhookId: two.id, limit: 1 },
        ];
        const claimed = await t.store.claim({ owner: "me", ...time, lanes });
        expect(claimed.map(({ claim }) => claim.webhookId)).toEqual([one.id, one.id, two.id]);
      });

      test("a success is recorded and ends the delivery", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [claimed] = await claimAll(t.store, webhook.id);
        expect(await t.store.settle(claimed!.claim, completed())).toBe(true);
        expect(await historyOf(t.store, webhook)).toMatchObject([
          {
            status: "completed",
            attempts: 1,
            nextRetryAtUs: null,
            lastError: null,
            lastResponseStatus: 200,
            lastResponseBody: "ok",
            lastAttemptAtUs: startUs + 9,
            updatedAtUs: startUs + 9,
          },
        ]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + hourUs })).toEqual([]);
      });

      test("a failure waits until it is due, counts, and shows when it will be tried again", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [first] = await claimAll(t.store, webhook.id);
        await t.store.settle(first!.claim, waiting(startUs + 1_000));
        expect(await historyOf(t.store, webhook)).toMatchObject([
          { status: "pending", attempts: 1, nextRetryAtUs: startUs + 1_000, lastError: "HTTP 503", lastResponseStatus: 503 },
        ]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + 999 })).toEqual([]);
        const [second] = await claimAll(t.store, webhook.id, { dueUs: startUs + 1_000 });
        expect(second).toMatchObject({ roundAttempts: 1, claim: { deliveryId: first!.claim.deliveryId } });
        expect(await historyOf(t.store, webhook)).toMatchObject([{ status: "processing", nextRetryAtUs: null }]);
      });

      test("webhooks with due deliveries are told in order of their due times, in parts, without held and removed ones", async () => {
        await using t = await open();
        const bankUid = newBankUid();
        const count = DUE_LANES_MAX + 20;
        const webhooks = Array.from({ length: count }, () => newWebhook({ bankUid }));
        await Promise.all(webhooks.map((webhook) => t.store.insert(webhook)));
        for (const [index, { id }] of webhooks.entries()) {
          await t.store.enqueueFor(bankUid, id, newNotification(bankUid), {
            nowUs: startUs,
            dueUs: startUs + Math.floor(index / 3),
          });
        }
        await setEnabled(t.store, webhooks[4]!, false);
        await t.store.remove(bankUid, webhooks[5]!.id);
        const dueUs = startUs + hourUs;
        const first = await t.store.dueLanes(dueUs, null);
        const second = await t.store.dueLanes(dueUs, first.at(-1)!);
        expect(first).toHaveLength(DUE_LANES_MAX);
        expect(await t.store.dueLanes(dueUs, second.at(-1)!)).toEqual([]);
        const expected = webhooks
          .map(({ id }, index) => ({ webhookId: id, dueUs: startUs + Math.floor(index / 3) }))
          .filter((_, index) => index !== 4 && index !== 5)
          .sort((a, b) => a.dueUs - b.dueUs || (a.webhookId < b.webhookId ? -1 : 1));
        expect([...first, ...second]).toEqual(expected);
        expect(await t.store.dueLanes(startUs, null)).toHaveLength(3);
      });

      test("a webhook is due again exactly while something of it is", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const isDue = async (dueUs: number) => (await t.store.dueLanes(dueUs, null)).length === 1;
        expect(await isDue(startUs)).toBe(true);
        const [claimed] = await claimAll(t.store, webhook.id);
        expect(await isDue(startUs + hourUs)).toBe(false);
        await t.store.settle(claimed!.claim, waiting(startUs + 50));
        expect(await isDue(startUs + 49)).toBe(false);
        expect(await t.store.nextDueUs(startUs + 49)).toBe(startUs + 50);
        expect(await t.store.nextDueUs(startUs + 50)).toBeNull();
        expect(await isDue(startUs + 50)).toBe(true);
      });

      test("what a disabled webhook has pending is held and shows no time, and goes on when it is enabled", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [claimed] = await claimAll(t.store, webhook.id);
        await t.store.settle(claimed!.claim, waiting(startUs + 50));
        await setEnabled(t.store, webhook, false);
        expect(await historyOf(t.store, webhook)).toMatchObject([{ status: "pending", nextRetryAtUs: null }]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + hourUs })).toEqual([]);
        expect(await t.store.dueLanes(startUs + hourUs, null)).toEqual([]);
        expect(await t.store.nextDueUs(startUs)).toBeNull();
        await setEnabled(t.store, webhook, true);
        expect(await historyOf(t.store, webhook)).toMatchObject([{ status: "pending", nextRetryAtUs: startUs + 50 }]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + hourUs })).toHaveLength(1);
      });

      test("a release leaves no trace of the claim but the time", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [claimed] = await claimAll(t.store, webhook.id);
        expect(await t.store.release(claimed!.claim, startUs + 7)).toBe(true);
        expect(await historyOf(t.store, webhook)).toMatchObject([{ status: "pending", attempts: 0, nextRetryAtUs: null }]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + 6 })).toEqual([]);
        expect(await claimAll(t.store, webhook.id, { dueUs: startUs + 7 })).toMatchObject([{ roundAttempts: 0 }]);
      });
    });

    describe("leases", () => {
      test("an owner that is gone loses its claims, and what it settles afterwards is not written", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [lost] = await claimAll(t.store, webhook.id, { owner: "gone" });
        const [gone] = await t.store.listOwners();
        expect(gone).toMatchObject({ owner: "gone" });
        expect(await t.store.releaseOwner(gone!, startUs)).toBe(1);
        expect(await t.store.listOwners()).toEqual([]);
        const [taken] = await claimAll(t.store, webhook.id, { owner: "other" });
        expect(await t.store.settle(lost!.claim, completed())).toBe(false);
        expect(await t.store.release(lost!.claim, startUs)).toBe(false);
        expect(await historyOf(t.store, webhook)).toMatchObject([{ status: "processing", attempts: 0 }]);
        expect(await t.store.settle(taken!.claim, completed())).toBe(true);
        expect(await t.store.settle(taken!.claim, completed())).toBe(false);
      });

      test("an owner that came back under the same name does not get its old claims back", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [old] = await claimAll(t.store, webhook.id);
        await t.store.releaseOwner((await t.store.listOwners())[0]!, startUs);
        await claimAll(t.store, webhook.id);
        expect(await t.store.settle(old!.claim, completed())).toBe(false);
      });

      test("an owner whose beat went on keeps everything", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [claimed] = await claimAll(t.store, webhook.id);
        const [seen] = await t.store.listOwners();
        await t.store.beat(seen!.owner);
        expect(await t.store.releaseOwner(seen!, startUs)).toBe(0);
        expect(await t.store.settle(claimed!.claim, completed())).toBe(true);
      });
    });

    describe("redelivery", () => {
      test("a new round has the same id and bytes, the current target, and no failures behind it", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const [first] = await claimAll(t.store, webhook.id);
        await t.store.settle(first!.claim, failed());
        const target = newTarget();
        await t.store.update(webhook.bankUid, webhook.id, (current) => ({ ...current, target }));
        const redelivery = { bankUid: webhook.bankUid, webhookId: webhook.id, deliveryId: first!.claim.deliveryId };
        expect(await t.store.redeliver({ ...redelivery, nowUs: startUs + 20, dueUs: startUs + 20 })).toBe(1);
        expect(await historyOf(t.store, webhook)).toMatchObject([
          { status: "pending", attempts: 1, nextRetryAtUs: null, target, createdAtUs: startUs, updatedAtUs: startUs + 20 },
        ]);
        const [second] = await claimAll(t.store, webhook.id, { dueUs: startUs + 20 });
        expect(second).toMatchObject({
          target,
          roundAttempts: 0,
          body: first!.body,
          claim: { deliveryId: first!.claim.deliveryId },
        });
        await t.store.settle(second!.claim, completed());
        expect(await historyOf(t.store, webhook)).toMatchObject([{ status: "completed", attempts: 2, lastError: null }]);
      });

      test("a completed and a waiting delivery can be sent again, one that is being sent cannot", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const deliveryIdOf = async () => (await historyOf(t.store, webhook))[0]!.id;
        const redeliver = async () =>
          t.store.redeliver({ bankUid: webhook.bankUid, webhookId: webhook.id, deliveryId: await deliveryIdOf(), ...time });
        const [one] = await claimAll(t.store, webhook.id);
        expect(await redeliver()).toBe(0);
        await t.store.settle(one!.claim, waiting(startUs + hourUs));
        expect(await redeliver()).toBe(1);
        const [two] = await claimAll(t.store, webhook.id);
        await t.store.settle(two!.claim, completed());
        expect(await redeliver()).toBe(1);
        expect(await claimAll(t.store, webhook.id)).toHaveLength(1);
      });

      test("a delivery that is not there, or is another webhook's, is not_found", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const other = await withOneDelivery(t.store);
        const [foreign] = await historyOf(t.store, other);
        for (const id of [randomUUID(), foreign!.id]) {
          const redelivery = { bankUid: webhook.bankUid, webhookId: webhook.id, deliveryId: id, ...time };
          await expect(t.store.redeliver(redelivery)).rejects.toMatchObject({ code: "not_found", reason: "DELIVERY_NOT_FOUND" });
        }
      });

      test("all failed since an instant are sent again, part by part, and nothing else", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        const count = CHANGES_PER_TRANSACTION_MAX + 5;
        await t.store.enqueue(
          Array.from({ length: count }, () => newNotification(webhook.bankUid)),
          time,
        );
        const claimed = await claimAll(t.store, webhook.id, { limit: count });
        for (const [index, { claim }] of claimed.entries()) await t.store.settle(claim, index === 3 ? completed() : failed());
        const redelivery = { bankUid: webhook.bankUid, webhookId: webhook.id, sinceUs: startUs + 2, ...time };
        const counts = [await t.store.redeliverFailed(redelivery), await t.store.redeliverFailed(redelivery)];
        expect(counts[0]).toBe(CHANGES_PER_TRANSACTION_MAX);
        expect(counts[0]! + counts[1]!).toBe(count - 3);
        expect(await t.store.redeliverFailed(redelivery)).toBe(0);
        const statuses = Map.groupBy(await historyOf(t.store, webhook, count), ({ status }) => status);
        expect(statuses.get("failed")).toHaveLength(2);
        expect(statuses.get("completed")).toHaveLength(1);
      });
    });

    describe("dead banks and old rows", () => {
      test("a fenced bank is empty at once, refuses writes, and is not brought back by a late event", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const { bankUid } = webhook;
        expect(await t.store.fence(bankUid, startUs)).toBe(1);
        expect(await t.store.fence(bankUid, startUs)).toBe(0);
        expect(await t.store.list(bankUid)).toEqual([]);
        expect(await t.store.find(bankUid, webhook.id)).toBeUndefined();
        await expect(t.store.listDeliveries({ bankUid, webhookId: webhook.id, limit: 1 })).rejects.toMatchObject({
          code: "not_found",
        });
        await expect(t.store.insert(newWebhook({ bankUid }))).rejects.toMatchObject({
          code: "not_found",
          reason: "BANK_NOT_FOUND",
        });
        expect(await t.store.enqueue([newNotification(bankUid)], time)).toEqual({ created: 0, webhookIds: [] });
        expect(await claimAll(t.store, webhook.id)).toEqual([]);
        expect(await t.store.dueLanes(startUs + hourUs, null)).toEqual([]);
      });

      test("an event of a fenced bank does not reach the operator's webhook, not even if it was queued before", async () => {
        await using t = await open();
        const server = newWebhook({ id: SERVER_WEBHOOK_ID, bankUid: SERVER_BANK_UID });
        await t.store.setServerWebhook(() => server);
        const [dead, alive] = [newBankUid(), newBankUid()];
        await t.store.enqueue([newNotification(dead), newNotification(alive)], time);
        await t.store.fence(dead, startUs);
        await t.store.enqueue([newNotification(dead)], time);
        expect(await claimAll(t.store, SERVER_WEBHOOK_ID)).toHaveLength(1);
        await purgeAll(t.store, dead);
        expect(await historyOf(t.store, server)).toHaveLength(1);
      });

      test("a purge takes a large bank away in parts and leaves other banks alone", async () => {
        await using t = await open();
        const [bankUid, other] = [newBankUid(), await withOneDelivery(t.store)];
        const webhooks = [newWebhook({ bankUid }), newWebhook({ bankUid })];
        for (const webhook of webhooks) await t.store.insert(webhook);
        const count = CHANGES_PER_TRANSACTION_MAX;
        await t.store.enqueue(
          Array.from({ length: count }, () => newNotification(bankUid)),
          time,
        );
        await t.store.fence(bankUid, startUs);
        expect(await purgeAll(t.store, bankUid)).toBeGreaterThan(1);
        expect(await t.store.sweep(startUs)).toBe(0);
        expect(await historyOf(t.store, other)).toHaveLength(1);
      });

      test("a sweep deletes what ended before the given instant, and keeps what waits or ended later", async () => {
        await using t = await open();
        const webhook = newWebhook();
        await t.store.insert(webhook);
        await t.store.enqueue(
          [1, 2, 3, 4].map(() => newNotification(webhook.bankUid)),
          time,
        );
        const claimed = await claimAll(t.store, webhook.id);
        await t.store.settle(claimed[0]!.claim, completed());
        await t.store.settle(claimed[1]!.claim, failed());
        await t.store.settle(claimed[2]!.claim, { ...completed(), lastAttemptAtUs: startUs + hourUs });
        await t.store.settle(claimed[3]!.claim, waiting(startUs + hourUs));
        expect(await sweepAll(t.store, startUs + 10)).toBe(2);
        expect((await historyOf(t.store, webhook)).map(({ status }) => status)).toEqual(["pending", "completed"]);
      });

      test("a sweep forgets a replaced target once no delivery names it", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        const target = newTarget();
        await t.store.update(webhook.bankUid, webhook.id, (current) => ({ ...current, target, updatedAtUs: startUs }));
        expect(await sweepAll(t.store, startUs + 5)).toBe(0);
        const [claimed] = await claimAll(t.store, webhook.id);
        await t.store.settle(claimed!.claim, completed());
        await sweepAll(t.store, startUs + 10);
        expect(await t.store.targetsNotUnder("another key")).toEqual([target]);
      });

      test("a target can be encrypted anew, in place", async () => {
        await using t = await open();
        const webhook = await withOneDelivery(t.store);
        expect(await t.store.targetsNotUnder(webhook.target.keyId)).toEqual([]);
        expect(await t.store.targetsNotUnder("new")).toEqual([webhook.target]);
        const resealed = { ...webhook.target, keyId: "new", sealed: new Uint8Array([9, 9]) };
        await t.store.reseal(resealed);
        expect(await t.store.targetsNotUnder("new")).toEqual([]);
        expect((await t.store.find(webhook.bankUid, webhook.id))?.target).toEqual(resealed);
        expect((await historyOf(t.store, webhook))[0]!.target).toEqual(resealed);
      });
    });

    test("a store that was closed is unavailable", async () => {
      const t = await open();
      await t.store.ping();
      await t[Symbol.asyncDispose]();
      await expect(t.store.ping()).rejects.toMatchObject({ code: "unavailable" });
      await expect(t.store.list(newBankUid())).rejects.toMatchObject({ code: "unavailable" });
    });
  });
}

const newBankUid = () => `Bank-${randomUUID()}`;

function newTarget(): SealedTarget {
  return { id: randomUUID(), keyId: "key", sealed: Uint8Array.from(Buffer.from(randomUUID())) };
}

function newWebhook(parts: Partial<Webhook> = {}): Webhook {
  return {
    id: randomUUID(),
    bankUid: newBankUid(),
    bankId: "bank",
    eventTypes: ["retain.completed"],
    isEnabled: true,
    target: newTarget(),
    createdAtUs: startUs,
    updatedAtUs: startUs,
    ...parts,
  };
}

function newNotification(bankUid: string): Notification {
  return {
    key: randomUUID(),
    bankUid,
    eventType: "retain.completed",
    body: Uint8Array.from(Buffer.from(`{"n":"${randomUUID()}"}`)),
    traceparent: "00-trace",
  };
}

async function withOneDelivery(store: WebhookStore): Promise<Webhook> {
  const webhook = newWebhook();
  await store.insert(webhook);
  await store.enqueue([newNotification(webhook.bankUid)], time);
  return webhook;
}

function claimAll(
  store: WebhookStore,
  webhookId: string,
  { dueUs = startUs, owner = "me", limit = 64 } = {},
): Promise<readonly ClaimedDelivery[]> {
  return store.claim({ owner, nowUs: startUs, dueUs, lanes: [{ webhookId, limit }] });
}

async function historyOf(store: WebhookStore, { bankUid, id }: Webhook, limit = 200) {
  const deliveries = [];
  let beforeUs: number | null = Number.MAX_SAFE_INTEGER;
  while (beforeUs !== null) {
    const page: Awaited<ReturnType<WebhookStore["listDeliveries"]>> = await store.listDeliveries({
      bankUid,
      webhookId: id,
      limit,
      beforeUs,
    });
    deliveries.push(...page.deliveries);
    beforeUs = page.nextBeforeUs;
  }
  return deliveries;
}

function setEnabled(store: WebhookStore, { bankUid, id }: Webhook, isEnabled: boolean): Promise<Webhook> {
  return store.update(bankUid, id, (current) => ({ ...current, isEnabled }));
}

async function purgeAll(store: WebhookStore, bankUid: string): Promise<number> {
  for (let calls = 1; calls < 100; calls += 1) if (await store.purge(bankUid)) return calls;
  throw new Error("the purge does not end");
}

async function sweepAll(store: WebhookStore, finishedBeforeUs: number): Promise<number> {
  let total = 0;
  for (let calls = 0; calls < 100; calls += 1) {
    const deleted = await store.sweep(finishedBeforeUs);
    if (deleted === 0) return total;
    total += deleted;
  }
  throw new Error("the sweep does not end");
}

const record = { lastResponseBody: "ok", lastAttemptAtUs: startUs + 9 };
const completed = (): Settlement => ({ ...record, status: "completed", lastResponseStatus: 200 });
const failed = (): Settlement => ({ ...record, status: "failed", lastResponseStatus: 500, lastError: "HTTP 500" });
const waiting = (dueUs: number): Settlement => ({
  ...record,
  status: "pending",
  lastResponseStatus: 503,
  lastError: "HTTP 503",
  dueUs,
});
