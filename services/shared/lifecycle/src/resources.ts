/** What a root has acquired. Everything is released in the reverse of the order in which it was acquired. */
export interface Resources {
  /** Takes over `resource` and returns it. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T;
  /** Runs `release` when its turn comes. */
  defer(release: () => void | Promise<void>): void;
}
