import { mayAccessBank, type Principal } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import { bearerKey } from "@memory-bank/rpc";
import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** Who calls; `null` on routes that need no key. */
    principal: Principal | null;
  }
  interface FastifyContextConfig {
    /** True for the few routes that need no key. */
    isPublic?: boolean;
  }
}

/** Answers whose key it is. Throws `unauthenticated` for every key that does not work, whatever the cause. */
export type VerifyKey = (apiKey: string) => Promise<Principal>;

const keyPrefix = "hsk_";
const KEY_LENGTH_MAX = 256; // several times the length of a real key; longer ones are not worth a call

/**
 * Verifies the key of every request and its right to the bank in the path, before the body is read. Every route that is
 * added afterwards needs a key unless it says that it is public.
 */
export function registerAuthenticate(app: FastifyInstance, deps: { verifyKey: VerifyKey }): void {
  app.decorateRequest("principal", null);
  const authenticate: onRequestAsyncHookHandler = async (request) => {
    const principal = await verify(deps.verifyKey, request.headers.authorization);
    request.principal = principal;
    const { bank_id: bankId } = request.params as { bank_id?: string };
    if (bankId !== undefined && !mayAccessBank(principal, bankId)) {
      throw new AppError("permission_denied", "BANK_OUT_OF_SCOPE", `API key is not allowed to access bank '${bankId}'`);
    }
  };
  app.addHook("onRoute", (options) => {
    if (!options.config?.isPublic) options.onRequest = [authenticate, options.onRequest ?? []].flat();
  });
}

async function verify(verifyKey: VerifyKey, authorization: string | undefined): Promise<Principal> {
  const key = bearerKey(authorization);
  if (!key?.startsWith(keyPrefix) || key.length > KEY_LENGTH_MAX) {
    throw new AppError("unauthenticated", "INVALID_API_KEY", "Authentication failed: Invalid API key");
  }
  try {
    return await verifyKey(key);
  } catch (cause) {
    if (isAppError(cause) && (cause.code === "unauthenticated" || cause.code === "resource_exhausted")) throw cause;
    // A key that could not be looked at is not a wrong key: a caller would throw it away.
    throw new AppError("unavailable", "KEY_VERIFICATION_UNAVAILABLE", "The API key could not be verified", { cause });
  }
}
