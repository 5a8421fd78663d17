import { expect, test } from "vitest";
import { createKeyedLock } from "./keyed-lock.ts";

test("work of one key runs one after another, of two keys side by side, and a failure holds nobody up", async () => {
  const lock = createKeyedLock();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = lock.run("a", async () => {
    await gate.promise;
    order.push("a1");
    throw new Error("a1 failed");
  });
  const second = lock.run("a", async () => void order.push("a2"));
  await lock.run("b", async () => void order.push("b1"));
  gate.resolve();
  await expect(first).rejects.toThrow("a1 failed");
  await second;
  expect(order).toEqual(["b1", "a1", "a2"]);
});
