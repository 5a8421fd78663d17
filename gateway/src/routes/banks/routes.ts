import type { CallContext } from "@memory-bank/context";
import { isAppError } from "@memory-bank/errors";
import type { Bank } from "@memory-bank/proto/bank/v1/bank";
import type { BankActivity } from "@memory-bank/proto/memory/v1/memory";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { str } from "../../validation/scalars.ts";
import { deletedAnswer } from "../answer-parts.ts";
import { bankParams, bankUrl, cappedPage, filterText } from "../request-parts.ts";
import { bankListItemFromProto, bankProfileFromProto, traitsFromProto, writeBankToProto } from "./convert.ts";
import { backgroundBody, bankBody, bankList, bankProfile, dispositionBody, mergedBackground } from "./schemas.ts";

export interface BankRouteDeps {
  readonly bank: Pick<GatewayClients["bank"], "putBank" | "patchBank" | "getBank" | "listBanks" | "deleteBank">;
  readonly memory: Pick<GatewayClients["memory"], "listBankActivity">;
}

export function bankRoutes(app: FastifyInstance, { bank, memory }: BankRouteDeps): void {
  const tag = "banks";

  route(app, {
    method: "GET",
    url: "/v1/default/banks",
    operationId: "listBanks",
    summary: "List banks, last written first",
    tag,
    query: { q: optional(str({ description: "Part of the id or name" })), ...cappedPage },
    response: bankList,
    handler: async (ctx, { query: { q, limit, offset } }) => {
      const query = filterText(q);
      // The two halves of an item have different owners, and the order is by the other one's: all matches are needed.
      const [banks, { banks: activities }] = await Promise.all([
        allBanks(bank, ctx, query),
        memory.listBankActivity(ctx, { bankIds: [] }),
      ]);
      const page = lastWrittenFirst(banks, activities).slice(offset, offset + limit);
      const shown = page.map(({ bank, activity }) => bankListItemFromProto(bank, activity));
      return { banks: shown, total: banks.length, limit, offset };
    },
  });

  route(app, {
    method: "PUT",
    url: bankUrl,
    operationId: "putBank",
    summary: "Create a bank or change the given members",
    tag,
    params: bankParams,
    body: bankBody,
    response: bankProfile,
    errors: [400],
    handler: async (ctx, { params, body }) =>
      bankProfileFromProto(await bank.putBank(ctx, writeBankToProto(params.bank_id, body))),
  });

  route(app, {
    method: "PATCH",
    url: bankUrl,
    operationId: "patchBank",
    summary: "Change the given members of a bank",
    tag,
    params: bankParams,
    body: bankBody,
    response: bankProfile,
    errors: [400, 404],
    handler: async (ctx, { params, body }) =>
      bankProfileFromProto(await bank.patchBank(ctx, writeBankToProto(params.bank_id, body))),
  });

  route(app, {
    method: "DELETE",
    url: bankUrl,
    operationId: "deleteBank",
    summary: "Delete a bank and everything in it",
    tag,
    params: bankParams,
    response: deletedAnswer,
    handler: async (ctx, { params: { bank_id: bankId } }) => {
      const { existed, deletedCount } = await bank.deleteBank(ctx, { bankId });
      const message = existed ? `Bank '${bankId}' deleted` : `Bank '${bankId}' did not exist`;
      return { success: true, message, deleted_count: deletedCount };
    },
  });

  route(app, {
    method: "GET",
    url: `${bankUrl}/profile`,
    operationId: "getBankProfile",
    summary: "Read a bank's profile",
    tag,
    params: bankParams,
    response: bankProfile,
    errors: [404],
    handler: async (ctx, { params }) => bankProfileFromProto(await bank.getBank(ctx, { bankId: params.bank_id })),
  });

  route(app, {
    method: "PUT",
    url: `${bankUrl}/profile`,
    operationId: "putBankProfile",
    summary: "Set a bank's disposition",
    description: "Deprecated: PATCH the bank instead.",
    tag,
    params: bankParams,
    body: dispositionBody,
    response: bankProfile,
    handler: async (ctx, { params, body: { disposition } }) => {
      const overrides = {
        disposition_skepticism: disposition.skepticism,
        disposition_literalism: disposition.literalism,
        disposition_empathy: disposition.empathy,
      };
      return bankProfileFromProto(await bank.putBank(ctx, { bankId: params.bank_id, overrides }));
    },
  });

  route(app, {
    method: "POST",
    url: `${bankUrl}/background`,
    operationId: "addBankBackground",
    summary: "Add text to a bank's mission",
    description: "Deprecated: PATCH the mission instead. Of two calls at the same moment one may be lost.",
    tag,
    params: bankParams,
    body: backgroundBody,
    response: mergedBackground,
    handler: async (ctx, { params: { bank_id: bankId }, body: { content } }) => {
      const mission = mergedMission(await missionOf(bank, ctx, bankId), content);
      const { mission: background, disposition } = await bank.putBank(ctx, { bankId, mission });
      return { mission: background, background, disposition: traitsFromProto(disposition) };
    },
  });
}

/** Every bank that matches, in as many pages as the service wants to give. */
async function allBanks(bank: BankRouteDeps["bank"], ctx: CallContext, query: string | undefined): Promise<Bank[]> {
  const banks: Bank[] = [];
  for (;;) {
    const page = await bank.listBanks(ctx, { ...(query !== undefined && { query }), limit: 0, offset: banks.length });
    banks.push(...page.banks);
    if (page.banks.length === 0 || banks.length >= page.total) return banks;
  }
}

interface ListedBank {
  readonly bank: Bank;
  readonly activity: BankActivity | undefined;
}

/** Banks with their activity: last written first, those never written last, ties by id. */
function lastWrittenFirst(banks: readonly Bank[], activities: readonly BankActivity[]): ListedBank[] {
  const activityByUid = new Map(activities.map((activity) => [activity.bankUid, activity]));
  const writtenAt = ({ activity }: ListedBank) => activity?.lastWriteAtUs ?? -Infinity;
  return banks
    .map((bank) => ({ bank, activity: activityByUid.get(bank.bankUid) }))
    .sort((a, b) => {
      const [atA, atB] = [writtenAt(a), writtenAt(b)];
      if (atA !== atB) return atA > atB ? -1 : 1;
      return a.bank.bankId < b.bank.bankId ? -1 : 1;
    });
}

async function missionOf(bank: BankRouteDeps["bank"], ctx: CallContext, bankId: string): Promise<string> {
  try {
    return (await bank.getBank(ctx, { bankId })).mission;
  } catch (error) {
    if (isAppError(error, "BANK_NOT_FOUND")) return ""; // the write below makes the bank
    throw error;
  }
}

/** Text that is there already is not added again. */
function mergedMission(mission: string, addition: string): string {
  const added = addition.trim();
  if (mission.includes(added)) return mission;
  return mission === "" ? added : `${mission}\n${added}`;
}
