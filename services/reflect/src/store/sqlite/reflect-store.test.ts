import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newMentalModel, refreshJob } from "../../domain/mental-model.ts";
import { defaultTrigger } from "../../domain/trigger.ts";
import { describeReflectStore } from "../../reflect-store.conformance.ts";
import { openReflectStore } from "../open-reflect-store.ts";

const nowUs = () => 1_767_225_600_000_000;

describeReflectStore("SQLite", () => openReflectStore({ kind: "sqlite", file: ":memory:" }, { nowUs }));

test("models and what a killed process had claimed are there after the next start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "reflect-store-"));
  const config = { kind: "sqlite" as const, file: join(folder, "reflect.sqlite") };
  const members = { id: "m", name: "n", sourceQuery: "q?", maxTokens: 512, tags: [], trigger: defaultTrigger };
  const model = newMentalModel("uid", members, nowUs());
  const bank = { tenantId: "t", bankUid: "uid", bankId: "b" };
  {
    await using storage = await openReflectStore(config, { nowUs });
    await storage.store.insert(model, refreshJob(bank, "m", { id: "job", nowUs: nowUs() }));
    const claim = { kinds: ["refresh_mental_model"], limit: 1, owner: "me", leaseMs: 1_000, nowUs: nowUs() };
    expect(await storage.jobs.claim(claim)).toHaveLength(1);
  }
  {
    await using storage = await openReflectStore(config, { nowUs });
    expect(await storage.jobs.reclaimAll()).toBe(1);
    expect(await storage.store.find("uid", "m")).toEqual(model);
    expect(await storage.jobs.get("uid", "job")).toMatchObject({ status: "pending", retryCount: 0 });
  }
  await rm(folder, { recursive: true });
});
