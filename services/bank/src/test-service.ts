import type { CallContext, Principal } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { createInProcessBus } from "@memory-bank/events";
import { createVirtualTime } from "@memory-bank/lifecycle";
import { BankInternalServiceService, BankServiceService, type WriteBankRequest } from "@memory-bank/proto/bank/v1/bank";
import { createInProcessMesh } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import { type BankServiceDeps, createBankService } from "./service.ts";
import { openBankStore } from "./store/open-bank-store.ts";

/** A bank service for tests: in memory, with owners that do as they are told and time that stands still. */
export async function openTestService(parts: Partial<BankServiceDeps> = {}) {
  const time = createVirtualTime();
  const storage = await openBankStore(
    { kind: "sqlite", file: ":memory:" },
    { nowUs: time.now, newId: () => crypto.randomUUID() },
  );
  const bus = createInProcessBus({ log: silentLogger, timers: time.timers });
  const owners = { memory: fakeOwner(), reflect: fakeOwner(), webhook: fakeOwner() };
  const service = createBankService({
    ...{ storage, owners, bus, log: silentLogger, timers: time.timers },
    nowUs: time.now,
    newId: () => crypto.randomUUID(),
    ...parts,
  });
  const mesh = createInProcessMesh({ log: silentLogger, nowMs: () => time.now() / 1_000 });
  mesh.bind(service);
  const context = (principal?: Principal): CallContext => ({
    ...(principal ? { principal } : {}),
    requestId: crypto.randomUUID(),
    transport: "http",
    deadlineMs: time.now() / 1_000 + 60_000,
    signal: new AbortController().signal,
  });
  return {
    ...{ time, storage, bus, owners, service },
    bank: mesh.client(BankServiceService),
    internal: mesh.client(BankInternalServiceService),
    /** A caller of tenant `acme`, an owner of every bank unless told. */
    as: (principal: Partial<Principal> = {}) =>
      context({ tenantId: "acme", keyId: "k1", role: "owner", capabilities: [], allowedBankIds: null, ...principal }),
    /** The mesh itself. */
    asMesh: () => context(),
    async [Symbol.asyncDispose]() {
      // Stopping waits by timers, which stand still unless somebody moves them.
      await Promise.all([service.stop(), time.advance(10_000)]);
      await bus[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

export type TestService = Awaited<ReturnType<typeof openTestService>>;

/** An owner that holds records of banks: `held` by uid. It fails as many of its next calls as `failures` says. */
function fakeOwner() {
  const held = new Map<string, number>();
  const fenced = new Set<string>();
  const failures = { fence: 0, purge: 0 };
  const fail = (call: keyof typeof failures) => {
    if (failures[call] === 0) return;
    failures[call] -= 1;
    throw new AppError("unavailable", "DOWN", "down");
  };
  return {
    ...{ held, fenced, failures },
    async fence(_ctx: CallContext, { bankUid }: { bankUid: string }) {
      fail("fence");
      const hiddenCount = fenced.has(bankUid) ? 0 : (held.get(bankUid) ?? 0);
      fenced.add(bankUid);
      return { hiddenCount };
    },
    /** One record goes per call. */
    async purge(_ctx: CallContext, { bankUid }: { bankUid: string }) {
      fail("purge");
      if (!fenced.has(bankUid)) throw new AppError("failed_precondition", "NOT_FENCED", "fence first");
      const left = Math.max((held.get(bankUid) ?? 0) - 1, 0);
      held.set(bankUid, left);
      return { done: left === 0 };
    },
  };
}

export const write = (bankId: string, parts: Partial<WriteBankRequest> = {}): WriteBankRequest => ({
  bankId,
  overrides: undefined,
  ...parts,
});
