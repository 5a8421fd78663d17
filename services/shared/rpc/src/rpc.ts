import type { MethodDefinition } from "@grpc/grpc-js";
import type { CallContext } from "@memory-bank/context";

/** A generated service definition: method name to its path and codecs. Only unary methods exist in this project. */
// biome-ignore lint/suspicious/noExplicitAny: each method has its own message types, inferred back by `Rpc`.
export type ServiceDefinition = Readonly<Record<string, MethodDefinition<any, any>>>;

/** One type for both sides of a service: what a handler implements is what a client offers. */
export type Rpc<S extends ServiceDefinition> = {
  readonly [M in keyof S]: S[M] extends MethodDefinition<infer Request, infer Response>
    ? (ctx: CallContext, request: Request) => Promise<Response>
    : never;
};

/** A service definition with its handlers, ready to be served or bound. */
export interface Implementation {
  readonly definition: ServiceDefinition;
  readonly handlers: Readonly<Record<string, AnyHandler>>;
}

export type AnyHandler = (ctx: CallContext, request: unknown) => Promise<unknown>;

/** Joins a definition to its handlers; the type checker makes sure that none is missing. */
export function implement<S extends ServiceDefinition>(definition: S, handlers: Rpc<S>): Implementation {
  return { definition, handlers: handlers as unknown as Record<string, AnyHandler> };
}

/** What every `create<Name>Service` answers: its RPCs, its background work and its readiness. */
export interface Service {
  readonly name: string;
  readonly implementations: readonly Implementation[];
  /** Starts workers and subscriptions. Called once, after every client that the service uses is bound. */
  start(): Promise<void>;
  /** Stops taking new work, finishes or releases what runs. Called before the stores close. */
  stop(): Promise<void>;
  /** Throws `unavailable` while the service cannot do its work. */
  ready(): Promise<void>;
}

/** RPCs of a `...InternalService` are for the mesh alone; direct callers are refused whatever key they hold. */
export function isInternal(path: string): boolean {
  return path.includes("InternalService/");
}

/** Full name of the service that a method path belongs to: `/memorybank.bank.v1.BankService/GetBank` gives `memorybank.bank.v1.BankService`. */
export function serviceNameOf(definition: ServiceDefinition): string {
  const path = Object.values(definition)[0]?.path ?? "";
  return path.slice(1, path.lastIndexOf("/"));
}

/** The largest message, either way. A request body of 16 MiB must fit with its framing. */
export const messageBytesMax = 20 * 1024 * 1024;
