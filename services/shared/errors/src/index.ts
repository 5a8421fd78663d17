/** The closed list of failure kinds. `@memory-bank/rpc` maps them to gRPC statuses, the gateway to HTTP statuses. */
export const errorCodes = [
  "invalid_argument",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "already_exists",
  "conflict",
  "failed_precondition",
  "resource_exhausted",
  "unavailable",
  "deadline_exceeded",
  "cancelled",
  "internal",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** One fault of one member of a request. `type`, `message` and `context` follow the public 422 body. */
export interface FieldViolation {
  /** Path of the member, for example `["body", "items", 0, "content"]`. */
  readonly location: readonly (string | number)[];
  /** Machine-readable kind, for example `value_error`. */
  readonly type: string;
  readonly message: string;
  /** The offending value, as received. */
  readonly input?: unknown;
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface AppErrorOptions {
  /** JSON values that may reach the caller. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Faults of single members; their presence turns a 400 into a 422. */
  readonly violations?: readonly FieldViolation[];
  /** How long a caller should wait before it tries again. */
  readonly retryAfterMs?: number;
  /** Kept in the process, never sent. */
  readonly cause?: unknown;
}

/**
 * The only expected failure. `reason` is stable and is what other services match on; `message` and `details` may reach
 * the caller; `cause` never leaves the process.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, reason: string, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.reason = reason;
    this.details = options.details ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** True when `error` is an `AppError`, narrowed to one reason when it is given. */
export function isAppError(error: unknown, reason?: string): error is AppError {
  return error instanceof AppError && (reason === undefined || error.reason === reason);
}

/** A fault of meaning in one member, answered as 422 with one `value_error`. */
export function valueError(location: readonly (string | number)[], text: string, input?: unknown): AppError {
  const violation = { location, type: "value_error", message: `Value error, ${text}`, input, context: { error: {} } };
  return new AppError("invalid_argument", "VALUE_ERROR", text, { violations: [violation] });
}
