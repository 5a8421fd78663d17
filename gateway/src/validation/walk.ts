import type { FieldViolation } from "@memory-bank/errors";

/** Stands for a value that could not be read. Its faults are in the walk. */
export const invalid: unique symbol = Symbol("invalid");
export type Invalid = typeof invalid;

/** One pass over one request. Readers push and pop `path` as they go down, and collect all faults instead of stopping. */
export interface Walk {
  readonly faults: FieldViolation[];
  readonly path: (string | number)[];
  /** Names of members that nothing reads, each once, dotted and without the first step of the path. */
  readonly ignored: string[];
  /** Above zero inside a union, where no branch can claim that it alone ignores a member. */
  unionDepth: number;
}

// Enough to repair any request written by a person; a list of millions of wrong items must not become an answer of millions of faults.
const FAULTS_MAX = 1000;
// More names than the response header can hold.
const IGNORED_NAMES_MAX = 100;

export function startWalk(): Walk {
  return { faults: [], path: [], ignored: [], unionDepth: 0 };
}

/** Records one fault at the current path. */
export function fault(
  walk: Walk,
  type: string,
  message: string,
  input: unknown,
  context?: Readonly<Record<string, unknown>>,
): Invalid {
  if (walk.faults.length < FAULTS_MAX) {
    const location = [...walk.path];
    walk.faults.push(context ? { location, type, message, input, context } : { location, type, message, input });
  }
  return invalid;
}

/** Records a fault of meaning: the type check passed, a rule of the contract did not. */
export function valueFault(walk: Walk, text: string, input: unknown): Invalid {
  return fault(walk, "value_error", `Value error, ${text}`, input, { error: {} });
}

/** Records the absence of a required member; `owner` is the value that lacks it. */
export function missing(walk: Walk, owner: unknown): Invalid {
  return fault(walk, "missing", "Field required", owner);
}

/** Records a member that nothing reads. */
export function ignore(walk: Walk, name: string): void {
  if (walk.unionDepth > 0 || walk.ignored.length >= IGNORED_NAMES_MAX) return;
  const parents = walk.path.slice(1).filter((step) => typeof step === "string");
  const dotted = [...parents, name].join(".");
  if (!walk.ignored.includes(dotted)) walk.ignored.push(dotted);
}
