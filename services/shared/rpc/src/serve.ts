import {
  type ServiceDefinition as GrpcServiceDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
} from "@grpc/grpc-js";
import type { CallContext, Principal } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { HealthImplementation } from "grpc-health-check";
import { bearerKey, type CallMetadata, readCallMetadata, sameToken } from "./call-metadata.ts";
import { type ErrorLog, expectedError } from "./expected-error.ts";
import { type AnyHandler, isInternal, messageBytesMax, type Service, serviceNameOf } from "./rpc.ts";
import { statusFromError } from "./status.ts";

export interface TlsFiles {
  /** PEM of the authority that signed the peers' certificates. */
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface ServeOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly log: ErrorLog;
  /** Verifies the key of a direct caller; throws `unauthenticated` or `unavailable`. */
  readonly verifyKey: (ctx: CallContext, apiKey: string) => Promise<Principal>;
  /** Members of the mesh prove themselves with it. Without a token and without TLS nobody is a member. */
  readonly serviceToken?: string | undefined;
  /** With TLS every client must show a certificate of `ca`, and is then a member of the mesh. */
  readonly tls?: TlsFiles | undefined;
  readonly newId: () => string;
  /** Wraps each call that was let in, for metrics, traces and the audit log. `work` must be called once. */
  readonly observe?: (call: ServedCall, work: () => Promise<unknown>) => Promise<unknown>;
}

/** A call that came over the wire and whose caller is known. */
export interface ServedCall {
  /** Of the method, such as `/memorybank.bank.v1.BankService/PutBank`. */
  readonly path: string;
  readonly ctx: CallContext;
  readonly request: unknown;
  /** True when the caller proved itself with a key. Members of the mesh speak for callers whom somebody else let in. */
  readonly isDirect: boolean;
}

export interface RpcServer extends AsyncDisposable {
  readonly port: number;
  /** Marks every service as serving or not in the gRPC health protocol. */
  setServing(isServing: boolean): void;
}

/** A direct call without a deadline of its own may take this long; the longest answer promised is a retain of one hour. */
const defaultDeadlineMs = 3_600_000;
/** Connections are renewed now and then so that clients find new replicas. */
const connectionAgeMsMax = 300_000;
/** How long calls may finish after a stop was asked for. */
const drainMsMax = 8_000;

/** Serves the RPCs of the given services on one port, with the gRPC health protocol beside them. */
export async function serve(services: readonly Service[], options: ServeOptions): Promise<RpcServer> {
  const server = new Server({
    "grpc.max_receive_message_length": messageBytesMax,
    "grpc.max_send_message_length": messageBytesMax,
    "grpc.max_connection_age_ms": connectionAgeMsMax,
    "grpc.max_connection_age_grace_ms": drainMsMax,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
  });
  const implementations = services.flatMap((service) => service.implementations);
  for (const { definition, handlers } of implementations) {
    const served = Object.entries(definition).map(([name, method]) => [name, unary(method.path, handlers[name]!, options)]);
    server.addService(definition as unknown as GrpcServiceDefinition, Object.fromEntries(served));
  }
  const names = implementations.map(({ definition }) => serviceNameOf(definition));
  const health = new HealthImplementation(Object.fromEntries(["", ...names].map((name) => [name, "NOT_SERVING" as const])));
  health.addToServer(server);

  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${options.host}:${options.port}`, credentials(options.tls), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    port,
    setServing(isServing) {
      for (const name of ["", ...names]) health.setStatus(name, isServing ? "SERVING" : "NOT_SERVING");
    },
    async [Symbol.asyncDispose]() {
      const force = setTimeout(() => server.forceShutdown(), drainMsMax);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      clearTimeout(force);
    },
  };
}

function credentials(tls: TlsFiles | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(tls.ca, [{ cert_chain: tls.cert, private_key: tls.key }], true);
}

function unary(path: string, handler: AnyHandler, options: ServeOptions) {
  return (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>): void => {
    const metadata = readMetadata(call);
    const requestId = metadata?.requestId ?? options.newId();
    const run = async () => {
      if (!metadata) throw new AppError("invalid_argument", "BAD_METADATA", "Call metadata cannot be read");
      const controller = new AbortController();
      call.on("cancelled", () => controller.abort());
      const anonymous: CallContext = {
        requestId,
        transport: "system",
        deadlineMs: deadlineOf(call),
        signal: controller.signal,
        ...(metadata.traceparent === undefined ? {} : { traceparent: metadata.traceparent }),
      };
      const { ctx, isDirect } = await identify(path, metadata, anonymous, options);
      const work = () => handler(ctx, call.request);
      return options.observe ? options.observe({ path, ctx, request: call.request, isDirect }, work) : work();
    };
    run().then(
      (response) => answer(null, response),
      (error) => answer(statusFromError(expectedError(error, { method: path, requestId, log: options.log }))),
    );
  };
}

function readMetadata(call: ServerUnaryCall<unknown, unknown>): CallMetadata | undefined {
  try {
    return readCallMetadata(call.metadata);
  } catch {
    return undefined; // Not JSON where JSON was promised: the caller is told, and nothing of it is trusted.
  }
}

function deadlineOf(call: ServerUnaryCall<unknown, unknown>): number {
  const deadline = call.getDeadline();
  const ms = deadline instanceof Date ? deadline.getTime() : deadline;
  return Number.isFinite(ms) ? ms : Date.now() + defaultDeadlineMs;
}

/** Members of the mesh speak for their caller; everybody else is who their key says, and never calls internal RPCs. */
async function identify(
  path: string,
  metadata: CallMetadata,
  anonymous: CallContext,
  options: ServeOptions,
): Promise<{ readonly ctx: CallContext; readonly isDirect: boolean }> {
  const { serviceToken, claimedPrincipal, claimedTransport, authorization } = metadata;
  const isMember =
    options.tls !== undefined ||
    (options.serviceToken !== undefined && serviceToken !== undefined && sameToken(serviceToken, options.serviceToken));
  if (isMember && authorization === undefined) {
    const ctx = { ...anonymous, transport: claimedTransport, ...(claimedPrincipal ? { principal: claimedPrincipal } : {}) };
    return { ctx, isDirect: false };
  }
  const apiKey = bearerKey(authorization);
  if (!apiKey) throw new AppError("unauthenticated", "INVALID_KEY", "Authentication failed: Invalid API key");
  const principal = await options.verifyKey(anonymous, apiKey);
  if (isInternal(path)) throw new AppError("permission_denied", "INTERNAL_RPC", "This call is for services of the mesh only");
  return { ctx: { ...anonymous, principal }, isDirect: true };
}
