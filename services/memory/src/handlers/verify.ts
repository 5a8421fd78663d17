import type { MemoryInternalServiceService, VerifyBanksResponse } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import type { MemoryDeps } from "../memory-deps.ts";
import { type BankReport, selectBanks, type VerifyDeps, verifyBank } from "../verify/verify-bank.ts";

type Verify = Pick<Rpc<typeof MemoryInternalServiceService>, "verifyBanks">;

/** Lines of one answer; they fit into one message with room to spare. */
const linesMax = 10_000;

export const verifyHandlers = (deps: MemoryDeps, { isAlone }: Pick<VerifyDeps, "isAlone">): Verify => ({
  async verifyBanks(ctx, { tenantId, bankId, repair }) {
    const verifying: VerifyDeps = { ...deps, isAlone, onRebuilt: deps.indexes.drop };
    const response: VerifyBanksResponse = { banksCount: 0, disagreements: [], omittedCount: 0 };
    for await (const bank of selectBanks(deps, bankId === "" ? undefined : { tenantId, bankId })) {
      const lines = linesOf(await verifyBank(verifying, bank, { repairs: repair, signal: ctx.signal }));
      const shown = lines.slice(0, linesMax - response.disagreements.length);
      response.banksCount++;
      response.disagreements.push(...shown);
      response.omittedCount += lines.length - shown.length;
    }
    return response;
  },
});

function linesOf({ bank: { tenantId, bankId }, found, left }: BankReport): VerifyBanksResponse["disagreements"] {
  const lineOf = ({ part, text }: { part: string; text: string }) => `${part}\n${text}`;
  const leftLines = new Set(left.map(lineOf));
  const wasFound = new Set(found.map(lineOf));
  const later = left.filter((disagreement) => !wasFound.has(lineOf(disagreement)));
  return [...found, ...later].map((disagreement) => ({
    ...{ tenantId, bankId, part: disagreement.part, text: disagreement.text },
    isRepaired: !leftLines.has(lineOf(disagreement)),
  }));
}
