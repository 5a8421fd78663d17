import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { AppError, type ErrorCode, type FieldViolation } from "@memory-bank/errors";
import type { Logger } from "@memory-bank/telemetry";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** The only file that knows which status and body the public contract gives to a failure. */
export interface ErrorAnswer {
  readonly status: number;
  /** JSON text; an object with a `detail` in every case. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const statusByCode: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  conflict: 409,
  failed_precondition: 409,
  resource_exhausted: 429,
  unavailable: 503,
  deadline_exceeded: 504,
  cancelled: 500,
  internal: 500,
};

/** Failures whose status is finer than their code can say. */
const statusByReason: Readonly<Record<string, number>> = {
  PAYLOAD_TOO_LARGE: 413,
  OPERATION_WITHDRAWN: 410,
  BANK_FENCED: 404, // the bank was deleted while the call was on its way
};

/** Statuses whose text is the same whatever the cause: it would help an attacker, or says nothing to a caller. */
const fixedDetails: Readonly<Record<number, string>> = {
  401: "Authentication failed: Invalid API key",
  413: "Request body too large",
  429: "Rate limit exceeded",
  500: "Internal server error",
  503: "Service temporarily unavailable",
};

const RETRY_AFTER_SECONDS = 30;

/** Answers every failure of a request in the shape of the contract, and logs those that are not the caller's doing. */
export function registerErrorBody(app: FastifyInstance, deps: { log: Logger }): void {
  const answer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const given = answerOf(error);
    logFailure(deps.log, error, given.status, request);
    send(reply, given);
  };
  app.setErrorHandler((error, request, reply) => answer(error, request, reply));
  app.setNotFoundHandler((_request, reply) => send(reply, plainAnswer(404, "Not Found")));
}

/** Given to Fastify as `frameworkErrors`: faults found before any hook runs, such as a path that cannot be decoded. */
export function answerFrameworkError(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.header("x-request-id", request.id);
  send(reply, plainAnswer(404, "Not Found"));
}

export function answerOf(error: unknown): ErrorAnswer {
  if (!(error instanceof AppError)) return answerOfUnknown(error);
  if (error.violations.length > 0) return { status: 422, body: faultList(error.violations), headers: {} };
  const status = statusByReason[error.reason] ?? statusByCode[error.code];
  const headers: Record<string, string> = {};
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (status === 429 || status === 503) {
    const seconds = error.retryAfterMs === undefined ? RETRY_AFTER_SECONDS : Math.ceil(error.retryAfterMs / 1000);
    headers["retry-after"] = String(seconds);
  }
  return plainAnswer(status, fixedDetails[status] ?? error.message, headers);
}

/** Fastify's own refusals, and a caller that left while it was sending, keep their status; everything else is our fault. */
function answerOfUnknown(error: unknown): ErrorAnswer {
  const { code, statusCode: status } = (error ?? {}) as Partial<FastifyError>;
  const isRefusal = code !== undefined && (code.startsWith("FST_") || code === "ECONNRESET");
  const isCallersFault = isRefusal && status !== undefined && status >= 400 && status < 500;
  return isCallersFault ? plainAnswer(status, textOf(status)) : plainAnswer(500, textOf(500));
}

function textOf(status: number): string {
  return fixedDetails[status] ?? STATUS_CODES[status] ?? "Bad Request";
}

export function plainAnswer(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): ErrorAnswer {
  return { status, body: JSON.stringify({ detail }), headers };
}

export function send(reply: FastifyReply, answer: ErrorAnswer): void {
  void reply.code(answer.status).headers(answer.headers).type("application/json").send(answer.body);
}

/** Types with a page of their own in the public catalogue; others are ours, or belong to the JSON parser. */
const cataloguedTypes = new Set(
  [
    "missing model_attributes_type dict_type list_type string_type string_too_short string_too_long string_pattern_mismatch",
    "too_short too_long int_type int_parsing int_parsing_size int_from_float float_type float_parsing finite_number",
    "bool_type bool_parsing greater_than_equal less_than_equal enum literal_error datetime_type datetime_parsing",
    "datetime_from_date_parsing uuid_type uuid_parsing value_error",
  ].flatMap((line) => line.split(" ")),
);
const catalogue = "https://errors.pydantic.dev/2/v/";

// Each fault echoes its input, and a large object that lacks ten members would be echoed ten times.
const FAULT_LIST_CHARACTERS_MAX = 32 * 1024 * 1024;

function faultList(violations: readonly FieldViolation[]): string {
  const faults: string[] = [];
  let size = 0;
  for (const violation of violations) {
    const fault = JSON.stringify(faultOf(violation));
    size += fault.length;
    if (size > FAULT_LIST_CHARACTERS_MAX && faults.length > 0) break;
    faults.push(fault);
  }
  return `{"detail":[${faults.join(",")}]}`;
}

function faultOf({ type, location, message, input, context }: FieldViolation) {
  return {
    type,
    loc: location,
    msg: message,
    input: input ?? null,
    ...(context && { ctx: context }),
    ...(cataloguedTypes.has(type) && { url: catalogue + type }),
  };
}

function logFailure(log: Logger, error: unknown, status: number, request: FastifyRequest): void {
  if (status < 500 || (error instanceof AppError && error.code === "cancelled")) return;
  const fields = { requestId: request.id, method: request.method, route: request.routeOptions.url, status, err: error };
  if (status === 500) log.error(fields, "request failed unexpectedly");
  else log.warn(fields, "request could not be served");
}

/** Given to Fastify as `clientErrorHandler`: what arrived is no HTTP request, so the answer is written by hand. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const { body } = plainAnswer(status, textOf(status));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
