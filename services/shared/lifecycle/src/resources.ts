/** What a root has acquired. Everything is released in the reverse of the order in which it was acquired. */
export interface Resources {
  /** Takes over `resource` and returns it. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T;
  /** Runs `release` when its turn comes. */
  defer(release: () => void | Promise<void>): void;
}

/** Resources without a process around them, for tests. A release that fails does not keep the others from being released. */
export function createResources(): Resources & AsyncDisposable {
  const stack = new AsyncDisposableStack();
  return {
    use: (resource) => stack.use(resource),
    defer: (release) => stack.defer(release),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
