/** Knows whether callers are waiting, so that background work can let them go first. */
export interface Foreground {
  /** Runs a call that somebody waits for. */
  serve<T>(call: () => Promise<T>): Promise<T>;
  /** Resolves when nobody waits, or after `msMax` all the same: background work is slowed down, never starved. */
  quiet(msMax: number): Promise<void>;
}

export function createForeground(): Foreground {
  let waiting = 0;
  const listeners = new Set<() => void>();
  return {
    async serve(call) {
      waiting++;
      try {
        return await call();
      } finally {
        waiting--;
        if (waiting === 0) for (const tell of [...listeners]) tell();
      }
    },
    quiet(msMax) {
      if (waiting === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          listeners.delete(done);
          resolve();
        };
        const timer = setTimeout(done, msMax);
        listeners.add(done);
      });
    },
  };
}
