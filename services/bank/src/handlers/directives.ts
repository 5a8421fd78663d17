import { requireBankScope } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import { directiveToProto, tagsMatchFromProto } from "../convert.ts";
import { findOwnBank, type HandlerDeps, pageOf } from "../deps.ts";
import { DIRECTIVE_PAGE_MAX } from "../directive-store.ts";
import { bankNotFound } from "../domain/bank.ts";
import { changeDirective, directiveNotFound, newDirective } from "../domain/directive.ts";
import { putBank } from "./banks.ts";

type BankRpc = Rpc<typeof BankServiceService>;

const DIRECTIVES_LISTED = 100; // when the caller names no limit

export const createCreateDirectiveHandler =
  (deps: HandlerDeps): BankRpc["createDirective"] =>
  async (ctx, { bankId, ...members }) => {
    requireBankScope(ctx, bankId);
    const nowUs = deps.nowUs();
    // Before the bank is made, so that a directive that is refused leaves no bank behind.
    const draft = newDirective({ id: deps.newId(), bankUid: "" }, members, nowUs);
    const { bankUid } = (await findOwnBank(deps, ctx, bankId)) ?? (await putBank(deps, ctx, bankId, {}));
    const directive = { ...draft, bankUid };
    const isWritten = await deps.storage.directives.insert(directive);
    if (!isWritten) throw bankNotFound(bankId); // deleted since it was found
    return directiveToProto(directive, bankId);
  };

export const createGetDirectiveHandler =
  (deps: HandlerDeps): BankRpc["getDirective"] =>
  async (ctx, { bankId, directiveId }) => {
    const bank = await findOwnBank(deps, ctx, bankId);
    const directive = bank && (await deps.storage.directives.find(bank.bankUid, storedId(directiveId)));
    if (!directive) throw directiveNotFound(directiveId);
    return directiveToProto(directive, bankId);
  };

export const createUpdateDirectiveHandler =
  (deps: HandlerDeps): BankRpc["updateDirective"] =>
  async (ctx, { bankId, directiveId, tags, ...members }) => {
    const bank = await findOwnBank(deps, ctx, bankId);
    const nowUs = deps.nowUs();
    const change = { ...members, tags: tags?.values };
    const directive =
      bank &&
      (await deps.storage.directives.update(bank.bankUid, storedId(directiveId), (directive) =>
        changeDirective(directive, change, nowUs),
      ));
    if (!directive) throw directiveNotFound(directiveId);
    return directiveToProto(directive, bankId);
  };

export const createListDirectivesHandler =
  (deps: HandlerDeps): BankRpc["listDirectives"] =>
  async (ctx, { bankId, tags, activeOnly, ...range }) => {
    if (tags && tags.groups.length > 0) {
      throw new AppError("invalid_argument", "TAG_GROUPS_UNSUPPORTED", "tag_groups cannot select directives; use tags");
    }
    const bank = await findOwnBank(deps, ctx, bankId);
    if (!bank) return { directives: [], total: 0 };
    const { directives, total } = await deps.storage.directives.list({
      bankUid: bank.bankUid,
      isActiveOnly: activeOnly,
      tags: tags?.tags ?? [],
      tagsMatch: tagsMatchFromProto(tags?.match),
      ...pageOf(range, { initial: DIRECTIVES_LISTED, max: DIRECTIVE_PAGE_MAX }),
    });
    return { directives: directives.map((directive) => directiveToProto(directive, bankId)), total };
  };

export const createDeleteDirectiveHandler =
  (deps: HandlerDeps): BankRpc["deleteDirective"] =>
  async (ctx, { bankId, directiveId }) => {
    const bank = await findOwnBank(deps, ctx, bankId);
    const isDeleted = bank && (await deps.storage.directives.delete(bank.bankUid, storedId(directiveId)));
    if (!isDeleted) throw directiveNotFound(directiveId);
    return {};
  };

/** UUIDs are the same in either case; they are stored in lower case. */
function storedId(directiveId: string): string {
  return directiveId.toLowerCase();
}
