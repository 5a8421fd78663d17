import { type Attributes, type Context, context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";

const tracer = trace.getTracer("memory-bank");

/**
 * Runs `fn` inside a span that ends with it and records its failure. `traceparent` continues a trace that came from outside;
 * otherwise the span belongs to the one that is current. Without an SDK this costs next to nothing.
 */
export async function withSpan<T>(name: string, attributes: Attributes, fn: () => Promise<T>, traceparent?: string): Promise<T> {
  const parent = traceparent === undefined ? context.active() : contextFrom(traceparent);
  return await tracer.startActiveSpan(name, { attributes }, parent, async (span) => {
    try {
      return await fn();
    } catch (error) {
      // The name only: a message may hold what a caller sent.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : "unknown" });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The W3C trace context of the current span, for a message that leaves the process; `undefined` without one. */
export function currentTraceparent(): string | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier["traceparent"];
}

function contextFrom(traceparent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent });
}

const SDK_SETTINGS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"];

/**
 * Loads the OpenTelemetry SDK when its own variables ask for an exporter, and not otherwise: loading it takes a quarter of a
 * second. Spans of HTTP and gRPC libraries are left out, since the services make their own. Disposing sends what is left.
 */
export async function startTracing(
  env: Readonly<Record<string, string | undefined>>,
  serviceName: string,
): Promise<AsyncDisposable> {
  const isWanted = SDK_SETTINGS.some((name) => env[name] !== undefined && env[name] !== "" && env[name] !== "none");
  if (!isWanted || env["OTEL_SDK_DISABLED"] === "true") return { [Symbol.asyncDispose]: async () => undefined };
  const { NodeSDK } = await import("@opentelemetry/sdk-node");
  const sdk = new NodeSDK({ serviceName: env["OTEL_SERVICE_NAME"] ?? serviceName, instrumentations: [] });
  sdk.start();
  return { [Symbol.asyncDispose]: () => sdk.shutdown() };
}
