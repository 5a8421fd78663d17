/**
 * The clock that due times are judged by: wall time at its start, carried on by the monotonic clock. Stepping the wall
 * clock in either direction neither sends anything early nor holds anything back; a restart begins at the wall again.
 */
export function createScheduleClock(sources: { readonly nowUs: () => number; readonly monotonicMs: () => number }): () => number {
  const startUs = sources.nowUs();
  const startMs = sources.monotonicMs();
  return () => startUs + Math.floor((sources.monotonicMs() - startMs) * 1_000);
}
