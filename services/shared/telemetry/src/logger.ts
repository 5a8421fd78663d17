import { type DestinationStream, destination as fileDestination, type Logger as Pino, pino } from "pino";
import { prettyLine } from "./pretty-line.ts";
import { redact, redactText } from "./redact.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Members of one log line. Secrets are hidden, whether by the name of their member or by what they look like. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One line per call. Put ids and outcomes into `fields`, an error under `err`; `message` is a constant text. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger whose lines all carry `fields`. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Lines for a person instead of JSON; roots choose it when they write to a terminal. */
  readonly pretty?: boolean;
  /** Takes finished lines; standard output unless told. Writes are synchronous, so that the last line before a crash is there. */
  readonly destination?: { write(line: string): void };
}

/** A logger over `pino`. Fields are hidden and cut as `redact` says. */
export function createLogger({
  level,
  pretty = false,
  destination = fileDestination({ fd: 1, sync: true }),
}: LoggerOptions): Logger {
  const stream: DestinationStream = pretty ? { write: (line) => destination.write(prettyLine(line)) } : destination;
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (copied: unknown) => copied }, // redact has made a plain object of it
  };
  return wrap(pino(options, stream));
}

/** Drops everything; for tests and for parts whose lines nobody wants. */
export const silentLogger: Logger = wrap(pino({ level: "silent", enabled: false }));

function wrap(inner: Pino): Logger {
  const line = (level: "debug" | "info" | "warn" | "error") => (fields: LogFields, message: string) => {
    if (inner.isLevelEnabled(level)) inner[level](redact(fields) as object, redactText(message));
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => wrap(inner.child(redact(fields) as Record<string, unknown>)),
  };
}
