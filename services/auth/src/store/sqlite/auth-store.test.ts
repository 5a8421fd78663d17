import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DomainEvent, EventBus } from "@memory-bank/events";
import { silentLogger } from "@memory-bank/telemetry";
import { describeAuthStore } from "../../auth-store.conformance.ts";
import { openSqliteAuthStore } from "./auth-store.ts";

describeAuthStore("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "auth-store-"));
  const published: DomainEvent[] = [];
  const bus: EventBus = {
    publish: async (events) => void published.push(...events),
    subscribe: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    [Symbol.asyncDispose]: async () => {},
  };
  const openStore = () => openSqliteAuthStore({ file: join(folder, "auth.sqlite"), bus, log: silentLogger });
  const store = await openStore();
  return {
    store,
    published,
    reopen: openStore,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
});
