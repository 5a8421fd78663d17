/** Label name to value. Values come from small closed sets (a status, a kind), never from ids. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels, amount?: number): void;
}
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface InstrumentOptions {
  /** Prometheus name with its unit last, for example `job_duration_seconds`. Asking twice gives the same instrument. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}
export interface HistogramOptions extends InstrumentOptions {
  /** Upper bounds; unless told, seconds from a millisecond to a minute. */
  readonly buckets?: readonly number[];
}

/** The metrics of one process. */
export interface Meter {
  counter(options: InstrumentOptions): Counter;
  histogram(options: HistogramOptions): Histogram;
  gauge(options: InstrumentOptions): Gauge;
  /** Everything in the Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
}
