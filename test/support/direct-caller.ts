import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { ServiceDefinition } from "@memory-bank/rpc";

/** How a gRPC call ended, as a client of any language would see it. */
export interface RpcAnswer {
  /** A gRPC status; 0 is success. */
  readonly code: number;
  readonly details: string;
  readonly response: unknown;
}

export interface DirectCaller extends Disposable {
  /** Members of `request` that are left out have the values that the wire gives them. */
  call(method: ServiceDefinition[string], request: object, metadata?: Readonly<Record<string, string>>): Promise<RpcAnswer>;
}

/** A caller who is no member of the mesh: no service token, no certificate, only what a call is given. */
export function createDirectCaller(address: string): DirectCaller {
  const client = new Client(address, credentials.createInsecure());
  return {
    call(method, request, headers = {}) {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      const full = { ...method.requestDeserialize(Buffer.alloc(0)), ...request };
      return new Promise((resolve) =>
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          full,
          metadata,
          { deadline: Date.now() + callMsMax },
          (error, response) => resolve({ code: error?.code ?? 0, details: error?.details ?? "", response }),
        ),
      );
    },
    [Symbol.dispose]: () => client.close(),
  };
}

const callMsMax = 30_000;

export const bearer = (apiKey: string): Readonly<Record<string, string>> =>
  apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
