import { AppError } from "@memory-bank/errors";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { route } from "../route.ts";
import { ownerKey, restrictedKey, testGateway } from "../test-gateway.ts";
import { pathId } from "../validation/scalars.ts";
import type { VerifyKey } from "./authenticate.ts";

const gatewayWith = (overrides: { verifyKey?: VerifyKey } = {}) =>
  testGateway(
    (app) =>
      route(app, {
        method: "GET",
        url: "/v1/default/banks/{bank_id}",
        operationId: "getBank",
        summary: "Get",
        tag: "banks",
        params: { bank_id: pathId() },
        response: Type.Object({ keyId: Type.String() }),
        handler: async (ctx) => ({ keyId: ctx.principal?.keyId ?? "" }),
      }),
    overrides,
  );

test.each([
  [`Bearer ${ownerKey}`, 200],
  [`bearer   ${ownerKey}`, 200],
  [`BEARER ${ownerKey}`, 200],
  [ownerKey, 200],
  [undefined, 401],
  ["", 401],
  ["Bearer", 401],
  ["Bearer hsk_unknown", 401],
  [`Basic ${ownerKey}`, 401],
  [`Bearer ${ownerKey} x`, 401],
  ["Bearer sk_other", 401],
])("authorization %j answers %i", async (authorization, status) => {
  await using gateway = await gatewayWith();
  const headers = authorization === undefined ? {} : { authorization };
  const response = await gateway.app.inject({ url: "/v1/default/banks/one", headers });
  expect(response.statusCode).toBe(status);
  if (status === 200) return;
  expect(response.body).toBe('{"detail":"Authentication failed: Invalid API key"}');
  expect(response.headers["www-authenticate"]).toBe("Bearer");
});

test("a key is not sent on when it cannot be one", async () => {
  const verified: string[] = [];
  const verifyKey: VerifyKey = async (key) => {
    verified.push(key);
    throw new AppError("unauthenticated", "INVALID_API_KEY", "no");
  };
  await using gateway = await gatewayWith({ verifyKey });
  for (const authorization of ["Bearer token", `Bearer hsk_${"x".repeat(300)}`]) {
    await gateway.app.inject({ url: "/v1/default/banks/one", headers: { authorization } });
  }
  expect(verified).toEqual([]);
});

test("a key opens only its own banks, and their names compare byte for byte", async () => {
  await using gateway = await gatewayWith();
  const statusOf = async (bank: string) => {
    const headers = { authorization: `Bearer ${restrictedKey}` };
    return (await gateway.app.inject({ url: `/v1/default/banks/${bank}`, headers })).statusCode;
  };
  expect([await statusOf("one"), await statusOf("%6Fne"), await statusOf("One"), await statusOf("three")]).toEqual([
    200, 200, 403, 403,
  ]);
});

test.each([
  [new AppError("unavailable", "AUTH_DOWN", "no connection"), 503],
  [new AppError("deadline_exceeded", "DEADLINE_EXCEEDED", "too slow"), 503],
  [new Error("connect ECONNREFUSED"), 503],
  [new AppError("resource_exhausted", "RATE_LIMITED", "too many"), 429],
])("a key that could not be verified is not called wrong: %s", async (error, status) => {
  await using gateway = await gatewayWith({ verifyKey: () => Promise.reject(error) });
  const response = await gateway.app.inject({ url: "/v1/default/banks/one", headers: { authorization: ownerKey } });
  expect([response.statusCode, response.headers["retry-after"]]).toEqual([status, "30"]);
});
