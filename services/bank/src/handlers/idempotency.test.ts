import { IdempotentOutcome } from "@memory-bank/proto/bank/v1/bank";
import { expect, test } from "vitest";
import { openTestService } from "../test-service.ts";

const claim = { tenantId: "acme", keyHash: "k", requestHash: "r", holder: "h" };
const answer = Buffer.from("answer");

test("a claim, its answer, and what others are told", async () => {
  await using t = await openTestService();
  const begin = async (parts: Partial<typeof claim> = {}) => t.internal.beginIdempotent(t.asMesh(), { ...claim, ...parts });
  expect(await begin()).toMatchObject({ outcome: IdempotentOutcome.CLAIMED });
  expect(await begin({ holder: "i" })).toMatchObject({ outcome: IdempotentOutcome.RUNNING });
  expect(await begin({ requestHash: "s" })).toMatchObject({ outcome: IdempotentOutcome.OTHER_REQUEST });
  await t.internal.finishIdempotent(t.asMesh(), { ...claim, answer });
  expect(await begin({ holder: "i" })).toEqual({ outcome: IdempotentOutcome.REPLAY, answer });
});

test("giving up, and being too late, are no failures", async () => {
  await using t = await openTestService();
  await t.internal.beginIdempotent(t.asMesh(), claim);
  await t.internal.finishIdempotent(t.asMesh(), claim);
  await t.internal.finishIdempotent(t.asMesh(), { ...claim, answer });
  const again = await t.internal.beginIdempotent(t.asMesh(), { ...claim, holder: "i" });
  expect(again.outcome).toBe(IdempotentOutcome.CLAIMED);
});

test.each(["tenantId", "keyHash", "requestHash", "holder"])("a claim without %s is refused", async (name) => {
  await using t = await openTestService();
  const refused = t.internal.beginIdempotent(t.asMesh(), { ...claim, [name]: "" });
  await expect(refused).rejects.toMatchObject({ code: "invalid_argument", reason: "INVALID_CLAIM" });
});
