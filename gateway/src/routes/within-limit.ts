import { AppError, isAppError } from "@memory-bank/errors";

/** Names the limit when a call runs past it; the services only know that nobody waits any more. */
export async function withinLimit<T>(what: string, seconds: number, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== "deadline_exceeded") throw cause;
    throw new AppError("deadline_exceeded", cause.reason, `${what} took longer than ${seconds} seconds`, { cause });
  }
}
