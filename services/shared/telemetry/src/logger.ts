export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Members of one log line. Secrets are replaced, whether by the name of their member or by what they look like. */
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
