import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { copyMessage } from "./copy-message.ts";
import { type ErrorLog, expectedError } from "./expected-error.ts";
import { type AnyHandler, type Rpc, type Service, type ServiceDefinition, serviceNameOf } from "./rpc.ts";

/** Joins clients to handlers of the same process: same types, deadlines, aborts and errors as over gRPC, but no socket. */
export interface InProcessMesh {
  /** A client that finds its handlers when it is first called, so that services may be made in any order. */
  client<S extends ServiceDefinition>(definition: S): Rpc<S>;
  bind(...services: readonly Service[]): void;
  /** Throws when a client was handed out whose service was never bound. */
  ready(): void;
}

export function createInProcessMesh(deps: { readonly log: ErrorLog; readonly nowMs?: () => number }): InProcessMesh {
  const nowMs = deps.nowMs ?? Date.now;
  const handlers = new Map<string, AnyHandler>();
  const wanted = new Set<string>();

  const call = async (method: string, ctx: CallContext, request: unknown): Promise<unknown> => {
    const handler = handlers.get(method);
    if (!handler) throw new AppError("unavailable", "NOT_BOUND", `${method} is not served`);
    const leftMs = ctx.deadlineMs - nowMs();
    if (leftMs <= 0) throw deadlineExceeded(method);
    return withDeadline(leftMs, ctx, method, async (bounded) => {
      try {
        return copyMessage(await handler(bounded, copyMessage(request)));
      } catch (error) {
        throw expectedError(error, { method, requestId: ctx.requestId, log: deps.log });
      }
    });
  };

  return {
    client<S extends ServiceDefinition>(definition: S): Rpc<S> {
      wanted.add(serviceNameOf(definition));
      const methods = Object.entries(definition).map(
        ([name, method]) => [name, (ctx: CallContext, request: unknown) => call(method.path, ctx, request)] as const,
      );
      return Object.fromEntries(methods) as Rpc<S>;
    },
    bind(...services) {
      for (const { definition, handlers: own } of services.flatMap((service) => service.implementations)) {
        for (const [name, method] of Object.entries(definition)) handlers.set(method.path, own[name]!);
      }
    },
    ready() {
      const bound = new Set([...handlers.keys()].map((path) => path.slice(1, path.lastIndexOf("/"))));
      const missing = [...wanted].filter((name) => !bound.has(name));
      if (missing.length > 0) throw new AppError("internal", "MESH_INCOMPLETE", `No service is bound for ${missing.join(", ")}`);
    },
  };
}

const deadlineExceeded = (method: string) =>
  new AppError("deadline_exceeded", "DEADLINE_EXCEEDED", `${method} ran past its deadline`);

/** Timers of Node count in 32 bits; a longer wait would fire at once. */
const timerMsMax = 2 ** 31 - 1;

/** Runs `work` until it settles, the deadline passes or the caller goes away, whichever is first. */
function withDeadline<T>(
  leftMs: number,
  ctx: CallContext,
  method: string,
  work: (bounded: CallContext) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    const stop = (error: AppError) => {
      settle();
      controller.abort(error);
      reject(error);
    };
    const onAbort = () => stop(new AppError("cancelled", "CALLER_GONE", "The caller went away"));
    const timer = setTimeout(() => stop(deadlineExceeded(method)), Math.min(leftMs, timerMsMax));
    const settle = () => {
      clearTimeout(timer);
      ctx.signal.removeEventListener("abort", onAbort);
    };
    if (ctx.signal.aborted) return onAbort();
    ctx.signal.addEventListener("abort", onAbort, { once: true });
    work({ ...ctx, signal: controller.signal }).then(
      (value) => {
        settle();
        resolve(value);
      },
      (error) => {
        settle();
        reject(error);
      },
    );
  });
}
