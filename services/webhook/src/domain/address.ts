import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Blocks of the IANA special-purpose registries, multicast and reserved space included. Some of them (AS112, AMT) are
 * reachable, but none is where a webhook receiver lives.
 */
const specialIpv4: readonly (readonly [cidr: string, what: string])[] = [
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared between carriers"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "for documentation"],
  ["192.31.196.0/24", "reserved"],
  ["192.52.193.0/24", "reserved"],
  ["192.88.99.0/24", "reserved"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "reserved"],
  ["198.18.0.0/15", "for benchmarks"],
  ["198.51.100.0/24", "for documentation"],
  ["203.0.113.0/24", "for documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
];

const specialIpv6: readonly (readonly [cidr: string, what: string])[] = [
  ["::1/128", "loopback"],
  ["::/128", "unspecified"],
  ["2001::/23", "reserved"],
  ["2001:db8::/32", "for documentation"],
  ["2620:4f:8000::/48", "reserved"],
  ["3fff::/20", "for documentation"],
  ["fc00::/7", "private"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "private"],
  ["ff00::/8", "multicast"],
];

/** IPv6 blocks whose addresses stand for an IPv4 address, and the byte at which it begins. Judged by that address. */
const embeddingIpv6: readonly (readonly [cidr: string, offset: number])[] = [
  ["::ffff:0:0/96", 12],
  ["::/96", 12],
  ["64:ff9b::/96", 12],
  ["2002::/16", 2],
];

/** The only IPv6 space that is given out for use on the internet. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

const parsed = <T>(table: readonly (readonly [string, T])[]) =>
  table.map(([cidr, value]) => ({ range: ipaddr.parseCIDR(cidr), value }));
const specialIpv4Ranges = parsed(specialIpv4);
const specialIpv6Ranges = parsed(specialIpv6);
const embeddingRanges = parsed(embeddingIpv6);

/** Why the address may not be called, in a few words, or `null` when it is a public one. Not an address: a reason too. */
export function whyNotPublic(text: string): string | null {
  const address = parseAddress(text);
  if (address === undefined) return "not an address";
  if (address.kind() === "ipv4") return specialIn(specialIpv4Ranges, address);
  const inner = embeddedIpv4(address as ipaddr.IPv6);
  if (inner !== undefined) return specialIn(specialIpv6Ranges, address) ?? specialIn(specialIpv4Ranges, inner);
  return specialIn(specialIpv6Ranges, address) ?? (address.match(globalUnicast) ? null : "reserved");
}

/** Reads an address in canonical spelling: four decimal parts, or IPv6. Zone ids name an interface, never the internet. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes("%")) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

/** The address itself and, when it embeds an IPv4 one, that one too: two spellings of one destination. */
export function spellingsOf(text: string): readonly Address[] {
  const address = parseAddress(text);
  if (address === undefined) return [];
  const inner = address.kind() === "ipv6" ? embeddedIpv4(address as ipaddr.IPv6) : undefined;
  return inner === undefined ? [address] : [address, inner];
}

function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const block = embeddingRanges.find(({ range }) => address.match(range));
  return block && new ipaddr.IPv4(address.toByteArray().slice(block.value, block.value + 4));
}

function specialIn(ranges: typeof specialIpv4Ranges, address: Address): string | null {
  const found = ranges.find(({ range }) => range[0].kind() === address.kind() && address.match(range));
  return found?.value ?? null;
}
