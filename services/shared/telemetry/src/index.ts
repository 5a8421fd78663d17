export { createMeter } from "./create-meter.ts";
export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel, silentLogger } from "./logger.ts";
export type { Counter, Gauge, Histogram, HistogramOptions, InstrumentOptions, Labels, Meter } from "./meter.ts";
export { redact, redactText } from "./redact.ts";
export { currentTraceparent, startTracing, withSpan } from "./tracing.ts";
