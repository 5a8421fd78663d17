import { AppError } from "@memory-bank/errors";
import { parseAddress, whyNotPublic } from "./address.ts";
import { type AllowList, canonicalHost } from "./allow-list.ts";

const URL_LENGTH_MAX = 2_048;

/**
 * Judges a destination by its syntax alone, when a webhook is registered or edited. Throws `invalid_argument`
 * (WEBHOOK_URL_REFUSED). What a name resolves to is judged at each connection, for it may change at any time.
 *
 * The host is judged after parsing: the URL standard turns 2130706433, 0x7f.1, 0177.0.0.1, 127.1 and full-width digits
 * into 127.0.0.1.
 */
export function checkedDestination(text: string, allowList: AllowList): string {
  if (text.length > URL_LENGTH_MAX) throw refused(`it is longer than ${URL_LENGTH_MAX} characters`);
  const url = URL.parse(text);
  if (url === null) throw refused("it is not a valid URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refused("the scheme must be http or https");
  const host = canonicalHost(url.hostname);
  if (host === "") throw refused("it has no host");
  if (url.username !== "" || url.password !== "" || hasUserInfo(text)) throw refused("it must not carry user information");
  if (allowList.allowsHost(host) || allowList.allowsAddress(host)) return text;
  const why = parseAddress(host) ? whyNotPublic(host) : null;
  if (why !== null) throw refused(`the address is ${why}`);
  return text;
}

// An empty user name disappears in parsing, but somebody wrote it to make the host look like another.
function hasUserInfo(text: string): boolean {
  const authority = /^[^/\\]*[/\\]+([^/\\?#]*)/.exec(text)?.[1] ?? "";
  return authority.includes("@");
}

const refused = (why: string) => new AppError("invalid_argument", "WEBHOOK_URL_REFUSED", `Webhook URL refused: ${why}`);
