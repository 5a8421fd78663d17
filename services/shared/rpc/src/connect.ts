import { type ChannelCredentials, Client, type ClientOptions, credentials, type ServiceError } from "@grpc/grpc-js";
import type { CallContext } from "@memory-bank/context";
import { metadataFromContext } from "./call-metadata.ts";
import { messageBytesMax, type Rpc, type ServiceDefinition, serviceNameOf } from "./rpc.ts";
import type { TlsFiles } from "./serve.ts";
import { errorFromStatus } from "./status.ts";

export interface ConnectOptions {
  /** `host:port`, or `dns:///host:port` for round robin over every address of a headless name. */
  readonly address: string;
  readonly serviceToken?: string | undefined;
  readonly tls?: TlsFiles | undefined;
}

/** Clients of one peer over gRPC, sharing one connection. */
export interface Peer extends AsyncDisposable {
  client<S extends ServiceDefinition>(definition: S): Rpc<S>;
}

/** A call of a job may have no deadline of its own; none takes a day. */
const deadlineMsMax = 86_400_000;

/** Reads may be repeated when a peer was unavailable; everything else is sent once. */
const idempotentMethod = /^(Get|List|Find|Resolve|Verify|Recall|Expand|Count|Fence|Purge|RecordAudit)/;

export function connect(options: ConnectOptions): Peer {
  const clients: Client[] = [];
  return {
    client<S extends ServiceDefinition>(definition: S): Rpc<S> {
      const client = new Client(options.address, channelCredentials(options.tls), channelOptions(definition));
      clients.push(client);
      const methods = Object.entries(definition).map(([name, method]) => [
        name,
        (ctx: CallContext, request: unknown) =>
          new Promise((resolve, reject) => {
            const call = client.makeUnaryRequest(
              method.path,
              method.requestSerialize,
              method.responseDeserialize,
              request,
              metadataFromContext(ctx, options.serviceToken),
              { deadline: Math.min(ctx.deadlineMs, Date.now() + deadlineMsMax) },
              (error: ServiceError | null, response: unknown) => {
                ctx.signal.removeEventListener("abort", cancel);
                if (error) reject(errorFromStatus(error));
                else resolve(response);
              },
            );
            const cancel = () => call.cancel();
            if (ctx.signal.aborted) cancel();
            else ctx.signal.addEventListener("abort", cancel, { once: true });
          }),
      ]);
      return Object.fromEntries(methods) as Rpc<S>;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
    },
  };
}

function channelCredentials(tls: TlsFiles | undefined): ChannelCredentials {
  return tls ? credentials.createSsl(tls.ca, tls.key, tls.cert) : credentials.createInsecure();
}

function channelOptions(definition: ServiceDefinition): ClientOptions {
  const service = serviceNameOf(definition);
  const methods = Object.values(definition).map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
  const name = methods.filter((method) => idempotentMethod.test(method)).map((method) => ({ service, method }));
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: "0.05s",
    maxBackoff: "0.5s",
    backoffMultiplier: 2,
    retryableStatusCodes: ["UNAVAILABLE"],
  };
  const serviceConfig = {
    loadBalancingConfig: [{ round_robin: {} }],
    ...(name.length > 0 ? { methodConfig: [{ name, retryPolicy }] } : {}),
  };
  return {
    "grpc.service_config": JSON.stringify(serviceConfig),
    "grpc.max_receive_message_length": messageBytesMax,
    "grpc.max_send_message_length": messageBytesMax,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
  };
}
