import { createKeyString } from "@memory-bank/auth";
import { systemContext } from "@memory-bank/context";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import { connect } from "@memory-bank/rpc";
import type { Api } from "./api.ts";

/** A key and its id. */
export interface MadeKey {
  readonly id: string;
  readonly apiKey: string;
}

/** Makes a tenant with a configuration of its own, through the internal RPCs, and answers its first owner key. */
export async function createTenant(
  rpcAddress: string,
  serviceToken: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<MadeKey> {
  await using peer = connect({ address: rpcAddress, serviceToken });
  const ctx = systemContext(crypto.randomUUID(), Date.now() + 10_000);
  const tenantId = `t-${crypto.randomUUID().slice(0, 8)}`;
  const { key, apiKey } = await peer.client(AuthInternalServiceService).createTenant(ctx, { tenantId, ownerKeyName: "first" });
  await peer.client(BankInternalServiceService).setTenantConfig(ctx, { tenantId, config });
  return { id: key!.id, apiKey };
}

export async function createKey(owner: Api, members: object = {}): Promise<MadeKey> {
  const { status, body } = await owner("POST", "/v1/api-keys", { name: "made by a test", ...members });
  if (status !== 200) throw new Error(`no key was made: ${status} ${JSON.stringify(body)}`);
  return { id: body.id, apiKey: body.api_key };
}

export async function createScopedKey(parent: Api, bankIds: readonly string[]): Promise<MadeKey> {
  const request = { name: "made by a test", allowed_bank_ids: bankIds, expires_in_days: 1 };
  const { status, body } = await parent("POST", "/v1/api-keys/scoped", request);
  if (status !== 200) throw new Error(`no key was made: ${status} ${JSON.stringify(body)}`);
  return { id: body.id, apiKey: body.api_key };
}

/** Keys that must be refused, each for another reason. Expired ones need a clock that a test can set, and are tried elsewhere. */
export async function badKeys(owner: Api, as: (apiKey: string) => Api): Promise<ReadonlyMap<string, string>> {
  const revoked = await createKey(owner);
  const parent = await createKey(owner, { capabilities: ["create_scoped_keys"] });
  const orphan = await createScopedKey(as(parent.apiKey), ["some-bank"]);
  for (const { id } of [revoked, parent]) {
    const { status } = await owner("DELETE", `/v1/api-keys/${id}`);
    if (status !== 200) throw new Error(`key ${id} was not revoked: ${status}`);
  }
  return new Map([
    ["none", ""],
    ["not a key", "hsk_nonsense"],
    ["a bad checksum", `${owner.key.slice(0, -1)}${owner.key.endsWith("a") ? "b" : "a"}`],
    ["a live look-up part with another secret", withLookupOf(owner.key)],
    ["well-formed and unknown", createKeyString()],
    ["revoked", revoked.apiKey],
    ["a child of a revoked key", orphan.apiKey],
  ]);
}

/** A well-formed key that the store finds under a live key's look-up part, and whose secret is another. */
function withLookupOf(liveKey: string): string {
  const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const lookup = [...liveKey.slice("hsk_".length, "hsk_".length + 16)].map((character) => base62.indexOf(character));
  return createKeyString((count) => Uint8Array.from({ length: count }, (_, i) => lookup[i] ?? 7));
}
