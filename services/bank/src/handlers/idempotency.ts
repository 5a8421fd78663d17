import { AppError } from "@memory-bank/errors";
import { type BankInternalServiceService, IdempotentOutcome } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import type { HandlerDeps } from "../deps.ts";
import type { IdempotentStanding } from "../idempotency-store.ts";

type InternalRpc = Rpc<typeof BankInternalServiceService>;

const outcomes: Readonly<Record<IdempotentStanding["outcome"], IdempotentOutcome>> = {
  claimed: IdempotentOutcome.CLAIMED,
  replay: IdempotentOutcome.REPLAY,
  running: IdempotentOutcome.RUNNING,
  other_request: IdempotentOutcome.OTHER_REQUEST,
};

export const createBeginIdempotentHandler =
  ({ storage, nowUs }: HandlerDeps): InternalRpc["beginIdempotent"] =>
  async (_ctx, claim) => {
    requireNames(claim, ["tenantId", "keyHash", "requestHash", "holder"]);
    const standing = await storage.idempotency.begin({ ...claim, nowUs: nowUs() });
    const answer = standing.outcome === "replay" ? standing.answer : new Uint8Array(0);
    return { outcome: outcomes[standing.outcome], answer: Buffer.from(answer) };
  };

export const createFinishIdempotentHandler =
  ({ storage, nowUs }: HandlerDeps): InternalRpc["finishIdempotent"] =>
  async (_ctx, { answer = null, ...claim }) => {
    requireNames(claim, ["tenantId", "keyHash", "holder"]);
    await storage.idempotency.finish({ ...claim, answer, nowUs: nowUs() });
    return {};
  };

function requireNames<N extends string>(claim: Readonly<Record<N, string>>, names: readonly N[]): void {
  const missing = names.find((name) => claim[name] === "");
  if (missing) throw new AppError("invalid_argument", "INVALID_CLAIM", `A claim needs its ${missing}`);
}
