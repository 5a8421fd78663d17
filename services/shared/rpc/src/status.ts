import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { AppError, type ErrorCode, errorCodes, type FieldViolation } from "@memory-bank/errors";

const statusOfCode: Readonly<Record<ErrorCode, status>> = {
  invalid_argument: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  permission_denied: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  already_exists: status.ALREADY_EXISTS,
  conflict: status.ABORTED,
  failed_precondition: status.FAILED_PRECONDITION,
  resource_exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  deadline_exceeded: status.DEADLINE_EXCEEDED,
  cancelled: status.CANCELLED,
  internal: status.INTERNAL,
};
const codeOfStatus = new Map<number, ErrorCode>(errorCodes.map((code) => [statusOfCode[code], code]));

const detailsKey = "grpc-status-details-bin";
const errorInfoType = "type.googleapis.com/google.rpc.ErrorInfo";
const badRequestType = "type.googleapis.com/google.rpc.BadRequest";
const retryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

/** An `AppError` as a gRPC status with the standard error details (google.rpc.Status: ErrorInfo, BadRequest, RetryInfo). */
export function statusFromError(error: AppError): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  metadata.set(detailsKey, Buffer.from(encodeStatus(error)));
  return { code: statusOfCode[error.code], details: error.message, metadata };
}

/** The `AppError` that a peer threw, or the nearest one for a failure of the transport itself. */
export function errorFromStatus(error: ServiceError): AppError {
  const code = codeOfStatus.get(error.code) ?? "internal";
  const encoded = error.metadata?.get(detailsKey)[0];
  if (!(encoded instanceof Buffer)) {
    const transport = code === "internal" ? "unavailable" : code;
    return new AppError(error.code === status.UNIMPLEMENTED ? "internal" : transport, "TRANSPORT", error.details, {
      cause: error,
    });
  }
  const info = decodeStatus(encoded);
  const { reason, details, violations, retryAfterMs } = info;
  return new AppError(code, reason, error.details, {
    details,
    violations,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function encodeStatus(error: AppError): Uint8Array {
  const details = [any(errorInfoType, encodeErrorInfo(error))];
  if (error.violations.length > 0) details.push(any(badRequestType, encodeBadRequest(error.violations)));
  if (error.retryAfterMs !== undefined) details.push(any(retryInfoType, encodeRetryInfo(error.retryAfterMs)));
  const writer = new BinaryWriter().uint32(8).int32(statusOfCode[error.code]).uint32(18).string(error.message);
  for (const detail of details) writer.uint32(26).bytes(detail);
  return writer.finish();
}

const any = (type: string, value: Uint8Array) => new BinaryWriter().uint32(10).string(type).uint32(18).bytes(value).finish();

/** ErrorInfo's metadata holds strings; ours are JSON texts, so that nothing of a violation is lost on the way. */
function encodeErrorInfo({ reason, details, violations }: AppError): Uint8Array {
  const writer = new BinaryWriter().uint32(10).string(reason).uint32(18).string("memorybank");
  const entries = { details: JSON.stringify(details), violations: JSON.stringify(violations) };
  for (const [key, value] of Object.entries(entries)) {
    writer.uint32(26).bytes(new BinaryWriter().uint32(10).string(key).uint32(18).string(value).finish());
  }
  return writer.finish();
}

function encodeBadRequest(violations: readonly FieldViolation[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { location, type, message } of violations) {
    const violation = new BinaryWriter().uint32(10).string(location.join(".")).uint32(18).string(message).uint32(26).string(type);
    writer.uint32(10).bytes(violation.finish());
  }
  return writer.finish();
}

function encodeRetryInfo(delayMs: number): Uint8Array {
  const duration = new BinaryWriter()
    .uint32(8)
    .int64(Math.floor(delayMs / 1000))
    .uint32(16)
    .int32((delayMs % 1000) * 1_000_000);
  return new BinaryWriter().uint32(10).bytes(duration.finish()).finish();
}

interface DecodedStatus {
  readonly reason: string;
  readonly details: Record<string, unknown>;
  readonly violations: FieldViolation[];
  readonly retryAfterMs?: number;
}

function decodeStatus(encoded: Uint8Array): DecodedStatus {
  const decoded = { reason: "UNKNOWN", details: {}, violations: [] as FieldViolation[] } as {
    reason: string;
    details: Record<string, unknown>;
    violations: FieldViolation[];
    retryAfterMs?: number;
  };
  for (const detail of fields(encoded).filter((field) => field.number === 3)) {
    const [type, value] = [text(detail.bytes, 1), bytes(detail.bytes, 2)];
    if (type === errorInfoType) {
      decoded.reason = text(value, 1);
      const metadata = fields(value).filter((field) => field.number === 3);
      const entries = new Map(metadata.map((entry) => [text(entry.bytes, 1), text(entry.bytes, 2)]));
      decoded.details = JSON.parse(entries.get("details") ?? "{}");
      decoded.violations = JSON.parse(entries.get("violations") ?? "[]");
    } else if (type === retryInfoType) {
      const duration = bytes(value, 1);
      decoded.retryAfterMs = varint(duration, 1) * 1000 + varint(duration, 2) / 1_000_000;
    }
  }
  return decoded;
}

/** The fields of a message; enough of the wire format for google.rpc.Status and what it holds. */
function fields(message: Uint8Array): { number: number; bytes: Uint8Array; varint: number }[] {
  const reader = new BinaryReader(message);
  const found = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === 2) found.push({ number, bytes: reader.bytes(), varint: 0 });
    else if (wireType === 0) found.push({ number, bytes: new Uint8Array(), varint: Number(reader.int64()) });
    else reader.skip(wireType, number);
  }
  return found;
}
const bytes = (message: Uint8Array, number: number) =>
  fields(message).find((field) => field.number === number)?.bytes ?? new Uint8Array();
const text = (message: Uint8Array, number: number) => new TextDecoder().decode(bytes(message, number));
const varint = (message: Uint8Array, number: number) => fields(message).find((field) => field.number === number)?.varint ?? 0;
