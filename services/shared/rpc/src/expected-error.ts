import { AppError } from "@memory-bank/errors";

/** The one logger method that error translation needs. */
export interface ErrorLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * What may leave a service: an `AppError` without its cause. Anything else is logged once, here, and becomes `internal`
 * with a fixed text.
 */
export function expectedError(
  error: unknown,
  where: { readonly method: string; readonly requestId: string; readonly log: ErrorLog },
): AppError {
  if (error instanceof AppError && error.code !== "internal") {
    const { code, reason, message, details, violations, retryAfterMs } = error;
    return new AppError(code, reason, message, { details, violations, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
  where.log.error({ method: where.method, requestId: where.requestId, err: error }, "unexpected error");
  return new AppError("internal", "INTERNAL", "Internal server error");
}
