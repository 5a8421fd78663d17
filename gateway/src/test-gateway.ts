import type { Principal } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { LogFields, Logger } from "@memory-bank/telemetry";
import type { FastifyInstance } from "fastify";
import { createGateway, type GatewayDeps } from "./app.ts";

/** A gateway with fake parts for tests of its own: every response is checked against its schema. */
export async function testGateway(
  routes: (app: FastifyInstance) => void,
  overrides: Partial<GatewayDeps> = {},
): Promise<{ app: FastifyInstance; logged: LogFields[] } & AsyncDisposable> {
  const logged: LogFields[] = [];
  const app = await createGateway({
    verifyKey: verifyTestKey,
    log: recordingLogger(logged),
    now: () => Date.now() * 1000,
    newId: () => crypto.randomUUID(),
    version: "0.0.0-test",
    checkResponses: true,
    routes,
    ...overrides,
  });
  return { app, logged, [Symbol.asyncDispose]: () => app.close() };
}

export const ownerKey = "hsk_owner";
/** Restricted to the banks `one` and `two`. */
export const restrictedKey = "hsk_restricted";
export const asOwner = { authorization: `Bearer ${ownerKey}` };

const owner: Principal = { tenantId: "default", keyId: "key-1", role: "owner", capabilities: [], allowedBankIds: null };
const principals = new Map([
  [ownerKey, owner],
  [restrictedKey, { ...owner, keyId: "key-2", role: "member" as const, allowedBankIds: ["one", "two"] }],
]);

async function verifyTestKey(apiKey: string): Promise<Principal> {
  const principal = principals.get(apiKey);
  if (!principal) throw new AppError("unauthenticated", "INVALID_API_KEY", "unknown key");
  return principal;
}

function recordingLogger(lines: LogFields[]): Logger {
  const record = (fields: LogFields, message: string) => void lines.push({ ...fields, message });
  return { debug: record, info: record, warn: record, error: record, child: () => recordingLogger(lines) };
}
