import { AppError } from "@memory-bank/errors";
import { optional } from "../validation/containers.ts";
import { int, pathId } from "../validation/scalars.ts";
import { parseUuid } from "../validation/uuid-text.ts";

/** Where everything of a bank lives. */
export const bankUrl = "/v1/default/banks/{bank_id}";
export const bankParams = { bank_id: pathId() };

const LIST_LIMIT_MAX = 1000; // larger pages are asked for as "all"; a page of this size is about 1 MB of JSON

/** Paging of a list that takes any limit and applies at most 1000. */
export const cappedPage = {
  limit: optional(int({ ge: 0, cap: LIST_LIMIT_MAX }), 100),
  offset: optional(int({ ge: 0 }), 0),
};

/** Paging of a list that refuses limits outside its bounds. */
export const boundedPage = (initial: number, max: number) => ({
  limit: optional(int({ ge: 1, le: max }), initial),
  offset: optional(int({ ge: 0 }), 0),
});

/** For operations whose work grows with the bank or document, such as deleting all of it: a large bank takes minutes. */
export const BULK_TIMEOUT_MS = 300_000;

/** The value of a filter; empty text means that there is none. */
export function filterText(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The UUID in lower case with hyphens; 400 for text that is none, with the contract's words for this member. */
export function requireUuid(text: string, faultOf: (text: string) => string): string {
  const parsed = parseUuid(text);
  if ("uuid" in parsed) return parsed.uuid;
  throw new AppError("invalid_argument", "INVALID_UUID", faultOf(text));
}

/** The UUID in lower case with hyphens. Text that is none stays as it is: there is no such record. */
export function anyUuidForm(text: string): string {
  const parsed = parseUuid(text);
  return "uuid" in parsed ? parsed.uuid : text;
}
