import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { HistogramOptions, InstrumentOptions, Meter } from "./meter.ts";

// Seconds, from a cached read to a call of a language model.
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A registry of its own, so that two of them in one process (tests) do not meet. `processMetrics` adds memory, CPU and event loop. */
export function createMeter({ processMetrics = false }: { processMetrics?: boolean } = {}): Meter {
  const registry = new Registry();
  const instruments = new Map<string, unknown>();
  if (processMetrics) collectDefaultMetrics({ register: registry });

  function once<T>(type: string, { name }: InstrumentOptions, create: () => T): T {
    const key = `${type} ${name}`;
    const instrument = (instruments.get(key) as T | undefined) ?? create();
    instruments.set(key, instrument);
    return instrument;
  }
  const settings = ({ name, help, labels = [] }: InstrumentOptions) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });

  return {
    counter(options) {
      const counter = once("counter", options, () => new Counter(settings(options)));
      return { add: (labels = {}, amount = 1) => counter.inc({ ...labels }, amount) };
    },
    histogram(options: HistogramOptions) {
      const buckets = [...(options.buckets ?? DURATION_BUCKETS)];
      const histogram = once("histogram", options, () => new Histogram({ ...settings(options), buckets }));
      return { observe: (value, labels = {}) => histogram.observe({ ...labels }, value) };
    },
    gauge(options) {
      const gauge = once("gauge", options, () => new Gauge(settings(options)));
      return { set: (value, labels = {}) => gauge.set({ ...labels }, value) };
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
