import { AppError } from "@memory-bank/errors";
import { silentLogger } from "@memory-bank/telemetry";
import { expect, test } from "vitest";
import type { KeyUse } from "./auth-store.ts";
import { createLastUse } from "./last-use.ts";

const minuteUs = 60_000_000;
const secondUs = 1_000_000;
const unused = (keyId: string) => ({ keyId, lastUsedAtUs: null });

/** Remembers what was written; a write can be held back or made to fail. */
function recordingStore() {
  const batches: (readonly KeyUse[])[] = [];
  const gates: { hold?: Promise<void>; failures: number } = { failures: 0 };
  return {
    batches,
    gates,
    async recordUses(uses: readonly KeyUse[]) {
      await gates.hold;
      if (gates.failures-- > 0) throw new AppError("unavailable", "DISK_FULL", "The disk is full");
      batches.push(uses);
    },
  };
}

test("the first use is written, later ones only when a minute has passed since the one on record", async () => {
  const store = recordingStore();
  const lastUse = createLastUse({ store, log: silentLogger });
  lastUse.note(unused("k"), 100);
  lastUse.note({ keyId: "k", lastUsedAtUs: 100 }, 100 + minuteUs - 1);
  await lastUse.flush();
  lastUse.note({ keyId: "k", lastUsedAtUs: 100 }, 100 + minuteUs);
  await lastUse.flush();
  expect(store.batches).toEqual([[{ keyId: "k", atUs: 100 }], [{ keyId: "k", atUs: 100 + minuteUs }]]);
});

test("uses noted while a write runs share the next one, and a key on its way is not written twice", async () => {
  const store = recordingStore();
  const { promise, resolve } = Promise.withResolvers<void>();
  store.gates.hold = promise;
  const lastUse = createLastUse({ store, log: silentLogger });
  for (let i = 0; i < 1_000; i++) lastUse.note(unused(`k${i % 50}`), i);
  resolve();
  await lastUse.flush();
  expect(store.batches.map((batch) => batch.length)).toEqual([1, 49]);
});

test("a failed write is tried again, after a pause, with the use that was noted first", async () => {
  const store = recordingStore();
  store.gates.failures = 1;
  const lastUse = createLastUse({ store, log: silentLogger });
  lastUse.note(unused("k"), 0);
  await lastUse.flush();
  store.gates.failures = 1_000;
  for (let i = 1; i < 500; i++) lastUse.note(unused("k"), i);
  expect(store.gates.failures).toBe(1_000); // none of them was tried within the pause
  store.gates.failures = 0;
  lastUse.note(unused("k"), secondUs);
  await lastUse.flush();
  expect(store.batches).toEqual([[{ keyId: "k", atUs: 0 }]]);
});

test("what waits is bounded, and the rest is noted at its next use", async () => {
  const store = recordingStore();
  const { promise, resolve } = Promise.withResolvers<void>();
  store.gates.hold = promise;
  const lastUse = createLastUse({ store, log: silentLogger });
  for (let i = 0; i < 20_000; i++) lastUse.note(unused(`k${i}`), i);
  resolve();
  await lastUse.flush();
  expect(store.batches.map((batch) => batch.length)).toEqual([1, 10_000]);
  lastUse.note(unused("k19999"), 20_000);
  await lastUse.flush();
  expect(store.batches.at(-1)).toEqual([{ keyId: "k19999", atUs: 20_000 }]);
});
