import { createHash, timingSafeEqual } from "node:crypto";
import { Metadata } from "@grpc/grpc-js";
import type { CallContext, Principal, Transport } from "@memory-bank/context";

const tokenKey = "x-mb-service-token";
const principalKey = "x-mb-principal";
const transportKey = "x-mb-transport";
const requestIdKey = "x-request-id";
const traceKey = "traceparent";

/** What a member of the mesh sends beside a request. */
export function metadataFromContext(ctx: CallContext, serviceToken: string | undefined): Metadata {
  const metadata = new Metadata();
  metadata.set(requestIdKey, ctx.requestId);
  metadata.set(transportKey, ctx.transport);
  if (serviceToken) metadata.set(tokenKey, serviceToken);
  if (ctx.principal) metadata.set(principalKey, Buffer.from(JSON.stringify(ctx.principal)).toString("base64url"));
  if (ctx.traceparent) metadata.set(traceKey, ctx.traceparent);
  return metadata;
}

/** What a server reads from a request's metadata. The caller's claims count only from a proven member of the mesh. */
export interface CallMetadata {
  readonly serviceToken: string | undefined;
  readonly authorization: string | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly claimedTransport: Transport;
  readonly claimedPrincipal: Principal | undefined;
}

export function readCallMetadata(metadata: Metadata): CallMetadata {
  const first = (key: string) => metadata.get(key)[0]?.toString();
  const principal = first(principalKey);
  return {
    serviceToken: first(tokenKey),
    authorization: first("authorization"),
    requestId: first(requestIdKey),
    traceparent: first(traceKey),
    claimedTransport: first(transportKey) === "http" ? "http" : "system",
    claimedPrincipal: principal ? (JSON.parse(Buffer.from(principal, "base64url").toString()) as Principal) : undefined,
  };
}

/** Compares two tokens in constant time, whatever their lengths. */
export function sameToken(given: string, expected: string): boolean {
  const digest = (token: string) => createHash("sha256").update(token).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** The key of an `authorization` value: the scheme word is case-insensitive, and a bare key is accepted too. */
export function bearerKey(authorization: string | undefined): string | undefined {
  const match = /^\s*(?:bearer\s+)?(\S+)\s*$/i.exec(authorization ?? "");
  return match?.[1];
}
