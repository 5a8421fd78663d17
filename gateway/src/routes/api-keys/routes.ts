import type { CallContext } from "@memory-bank/context";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import type { Read } from "../../validation/containers.ts";
import { pathId } from "../../validation/scalars.ts";
import { createdKeyFromProto, keyFromProto } from "./convert.ts";
import { createdKey, keyPage, keyQuery, newKey, newScopedKey, revokedKey } from "./schemas.ts";

export interface ApiKeyRouteDeps {
  readonly auth: Pick<GatewayClients["auth"], "createApiKey" | "createScopedApiKey" | "listApiKeys" | "revokeApiKey">;
}

/** Keys cannot be changed, so there is no PUT and no PATCH. */
export function apiKeyRoutes(app: FastifyInstance, { auth }: ApiKeyRouteDeps): void {
  const tag = "api keys";
  const url = "/v1/api-keys";
  const scopedUrl = `${url}/scoped` as const;
  const keyParams = { key_id: pathId() };

  const listKeys = async (ctx: CallContext, query: Read<typeof keyQuery>, childrenOnly: boolean) => {
    const { keys, total } = await auth.listApiKeys(ctx, { ...query, childrenOnly });
    return { items: keys.map(keyFromProto), total, limit: query.limit, offset: query.offset };
  };
  const revokeKey = async (ctx: CallContext, keyId: string, childrenOnly: boolean) => {
    await auth.revokeApiKey(ctx, { keyId, childrenOnly });
    return { success: true as const, id: keyId };
  };

  route(app, {
    method: "POST",
    url: scopedUrl,
    operationId: "createScopedApiKey",
    summary: "Create a child of the caller's key for some of its banks",
    description: "Needs the capability `create_scoped_keys`. The secret is shown this once.",
    tag,
    body: newScopedKey,
    response: createdKey,
    handler: async (ctx, { body }) =>
      createdKeyFromProto(
        await auth.createScopedApiKey(ctx, {
          name: body.name,
          allowedBankIds: body.allowed_bank_ids,
          expiresInDays: body.expires_in_days,
          metadata: body.metadata,
        }),
      ),
  });

  route(app, {
    method: "GET",
    url: scopedUrl,
    operationId: "listScopedApiKeys",
    summary: "List child keys, newest first",
    tag,
    query: keyQuery,
    response: keyPage,
    handler: (ctx, { query }) => listKeys(ctx, query, true),
  });

  route(app, {
    method: "DELETE",
    url: `${scopedUrl}/{key_id}`,
    operationId: "revokeScopedApiKey",
    summary: "Revoke a child key",
    tag,
    params: keyParams,
    response: revokedKey,
    errors: [404],
    handler: (ctx, { params }) => revokeKey(ctx, params.key_id, true),
  });

  route(app, {
    method: "POST",
    url,
    operationId: "createApiKey",
    summary: "Create a key",
    description: "For owners and admins. The secret is shown this once.",
    tag,
    body: newKey,
    response: createdKey,
    handler: async (ctx, { body: { expires_in_days, allowed_bank_ids, ...members } }) =>
      createdKeyFromProto(
        await auth.createApiKey(ctx, {
          ...members,
          expiresInDays: expires_in_days,
          allowedBankIds: allowed_bank_ids && { values: allowed_bank_ids },
        }),
      ),
  });

  route(app, {
    method: "GET",
    url,
    operationId: "listApiKeys",
    summary: "List keys, newest first",
    description: "Owners and admins see all keys of the tenant, others themselves and their children.",
    tag,
    query: keyQuery,
    response: keyPage,
    handler: (ctx, { query }) => listKeys(ctx, query, false),
  });

  route(app, {
    method: "DELETE",
    url: `${url}/{key_id}`,
    operationId: "revokeApiKey",
    summary: "Revoke a key and its children",
    tag,
    params: keyParams,
    response: revokedKey,
    errors: [404, 409],
    handler: (ctx, { params }) => revokeKey(ctx, params.key_id, false),
  });
}
