import { AppError } from "@memory-bank/errors";

// biome-ignore lint/suspicious/noExplicitAny: requests differ by method, and the test says what it expects of each.
export type Call = readonly [method: string, request: any];

/** A client made of fixed answers, or functions of the request, that keeps the requests it got in order. */
export function fakeClient<C extends object>(answers: { readonly [M in keyof C]?: unknown }): { client: C; calls: Call[] } {
  const calls: Call[] = [];
  const methods = Object.entries(answers).map(([name, answer]) => [
    name,
    async (_ctx: unknown, request: unknown) => {
      calls.push([name, request]);
      return typeof answer === "function" ? answer(request) : answer;
    },
  ]);
  return { client: Object.fromEntries(methods) as C, calls };
}

/** An answer that is a failure. */
export const failing =
  (...parts: ConstructorParameters<typeof AppError>) =>
  () => {
    throw new AppError(...parts);
  };
