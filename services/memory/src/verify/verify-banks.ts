import type { VerifyBanksRequest, VerifyBanksResponse } from "@memory-bank/proto/memory/v1/memory";
import type { Disagreement } from "../memory-keeping.ts";
import { type BankReport, selectBanks, type VerifyDeps, verifyBank } from "./verify-bank.ts";

/** Lines of one answer; they fit into one message with room to spare. */
const linesMax = 10_000;

/** Verifies one bank or all of them, one after another. */
export async function verifyBanks(
  deps: VerifyDeps,
  { tenantId, bankId, repair }: VerifyBanksRequest,
  signal: AbortSignal,
): Promise<VerifyBanksResponse> {
  const response: VerifyBanksResponse = { banksCount: 0, disagreements: [], omittedCount: 0 };
  for await (const bank of selectBanks(deps, bankId === "" ? undefined : { tenantId, bankId })) {
    const lines = linesOf(await verifyBank(deps, bank, { repairs: repair, signal }));
    const shown = lines.slice(0, linesMax - response.disagreements.length);
    response.banksCount++;
    response.disagreements.push(...shown);
    response.omittedCount += lines.length - shown.length;
  }
  return response;
}

/** What was found, and after it what only came up with the repair. */
function linesOf({ bank: { tenantId, bankId }, found, left }: BankReport): VerifyBanksResponse["disagreements"] {
  const keyOf = ({ part, text }: Disagreement) => `${part} ${text}`;
  const leftKeys = new Set(left.map(keyOf));
  const foundKeys = new Set(found.map(keyOf));
  const later = left.filter((disagreement) => !foundKeys.has(keyOf(disagreement)));
  return [...found, ...later].map((disagreement) => ({
    ...{ tenantId, bankId, part: disagreement.part, text: disagreement.text },
    isRepaired: !leftKeys.has(keyOf(disagreement)),
  }));
}
