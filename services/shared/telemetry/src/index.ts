import type { Logger, LogLevel } from "./logger.ts";
import type { Meter } from "./meter.ts";

export type { LogFields, Logger, LogLevel } from "./logger.ts";
export type { Counter, Gauge, Histogram, HistogramOptions, InstrumentOptions, Labels, Meter } from "./meter.ts";
export declare function createLogger(options: {
  level: LogLevel;
  pretty?: boolean;
  destination?: { write(line: string): void };
}): Logger;
export declare const silentLogger: Logger;
export declare function createMeter(): Meter;
