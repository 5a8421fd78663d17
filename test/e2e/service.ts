import { expect, inject } from "vitest";
import { type Answer, type Api, createApi } from "../support/api.ts";
import { createContractCheck, fetchOpenApi } from "../support/openapi.ts";

const { url, ownerKey } = inject("service");
const contract = fetchOpenApi(url).then(createContractCheck);

/** The same service with another key; none when empty. */
export const withKey = (key: string): Api => createApi({ url, key, contract });

/** The started service with its owner key. Every answer is checked against the API description that the service serves. */
export const owner: Api = withKey(ownerKey);

/** A bank id that no other test uses, and the path of its resources. */
export function freshBank(name = "bank"): { readonly bankId: string; readonly path: string } {
  const bankId = `${name}-${crypto.randomUUID()}`;
  return { bankId, path: `/v1/default/banks/${bankId}` };
}

/** The status, the members that are named, and arrays as long as shown; answers the body. */
export async function expectAnswer(call: Promise<Answer>, status: number, members: unknown = {}): Promise<Answer["body"]> {
  const answer = await call;
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(answer.body).toMatchObject(members as object);
  return answer.body;
}
