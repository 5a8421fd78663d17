import type { MemoryInternalServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import type { MemoryDeps } from "../memory-deps.ts";
import type { VerifyDeps } from "../verify/verify-bank.ts";
import { verifyBanks } from "../verify/verify-banks.ts";

type Verify = Pick<Rpc<typeof MemoryInternalServiceService>, "verifyBanks">;

/** Verification by the running service, which alone may write to its banks. */
export const verifyHandlers = (deps: MemoryDeps, { isAlone }: Pick<VerifyDeps, "isAlone">): Verify => ({
  verifyBanks: (ctx, request) => verifyBanks({ ...deps, isAlone, onRebuilt: deps.indexes.drop }, request, ctx.signal),
});
