import { inject } from "vitest";
import { type Api, createApi } from "../support/api.ts";

/** The started service with its owner key. */
export const owner: Api = createApi({ url: inject("service").url, key: inject("service").ownerKey });

/** The same service with another key; none when empty. */
export const withKey = (key: string): Api => createApi({ url: owner.url, key });

/** A bank id that no other test uses, and the path of its resources. */
export function freshBank(name = "bank"): { readonly bankId: string; readonly path: string } {
  const bankId = `${name}-${crypto.randomUUID()}`;
  return { bankId, path: `/v1/default/banks/${bankId}` };
}
