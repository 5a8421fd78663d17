import { AppError } from "@memory-bank/errors";
import ipaddr from "ipaddr.js";
import { parseAddress, spellingsOf } from "./address.ts";

/** Destinations that the operator has opened although their addresses are not public. */
export interface AllowList {
  /** True for a name on the list: then any address of it may be called. */
  allowsHost(hostname: string): boolean;
  allowsAddress(address: string): boolean;
}

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** Reads host names, addresses and CIDR blocks. Throws `invalid_argument` naming the first entry that is none of them. */
export function createAllowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>();
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== "")) {
    const address = parseAddress(entry);
    if (address) ranges.push([address, address.kind() === "ipv4" ? 32 : 128]);
    else if (ipaddr.isValidCIDR(entry)) ranges.push(ipaddr.parseCIDR(entry));
    else if (hostName.test(canonicalHost(entry))) hosts.add(canonicalHost(entry));
    else
      throw new AppError(
        "invalid_argument",
        "BAD_ALLOW_LIST",
        `Allow-list: '${entry}' is neither a host name nor an address or CIDR block`,
      );
  }
  return {
    allowsHost: (hostname) => hosts.has(canonicalHost(hostname)),
    allowsAddress: (text) =>
      spellingsOf(text).some((address) =>
        ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)),
      ),
  };
}

/** Lower case, without brackets and without the dots at the end that mean the root of the name space. */
export function canonicalHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.+$/, "");
}
