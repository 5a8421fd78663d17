import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { AppError } from "@memory-bank/errors";
import { parseAddress, spellingsOf, whyNotPublic } from "../domain/address.ts";
import { type AllowList, canonicalHost } from "../domain/allow-list.ts";

/** Decides which addresses a connection may go to. */
export interface DestinationGuard {
  /**
   * The addresses of `hostname`, all of them judged. Connect to these and to nothing else: asking for the name again could
   * bring other answers. Throws `permission_denied` (DESTINATION_REFUSED) when one of them may not be called, and whatever
   * the resolver throws when the name has none.
   */
  judge(hostname: string, port: number): Promise<readonly string[]>;
}

export interface DestinationGuardDeps {
  readonly allowList: AllowList;
  /** Ports that this process and its neighbours on this machine listen on; calling them would be calling ourselves. */
  readonly ownPorts: () => readonly number[];
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly localAddresses?: () => readonly string[];
}

export function createDestinationGuard(deps: DestinationGuardDeps): DestinationGuard {
  const { allowList, ownPorts, resolve = resolveByName, localAddresses = addressesOfThisMachine } = deps;

  const judgeAddress = (address: string, isHostAllowed: boolean, port: number) => {
    if (ownPorts().includes(port) && isLocal(address, localAddresses())) throw refused("a port of this service");
    if (isHostAllowed || allowList.allowsAddress(address)) return;
    const why = whyNotPublic(address);
    if (why !== null) throw refused(`the address is ${why}`);
  };

  return {
    async judge(hostname, port) {
      const host = canonicalHost(hostname);
      const addresses = parseAddress(host) ? [host] : await resolve(host);
      const isHostAllowed = allowList.allowsHost(host);
      for (const address of addresses) judgeAddress(address, isHostAllowed, port);
      return addresses;
    },
  };
}

/** As the operating system resolves names, hosts file included. Some answers may be IPv6 addresses with a zone: refused later. */
async function resolveByName(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true });
  return answers.map(({ address }) => address);
}

function addressesOfThisMachine(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

function isLocal(address: string, own: readonly string[]): boolean {
  const ownAddresses = new Set(own.flatMap((text) => spellingsOf(text)).map(String));
  return spellingsOf(address).some(
    (spelling) => ownAddresses.has(String(spelling)) || ["loopback", "unspecified"].includes(spelling.range()),
  );
}

const refused = (why: string) => new AppError("permission_denied", "DESTINATION_REFUSED", `Destination refused: ${why}`);
