import { analyze } from "../text/analyzer.ts";
import { createInterned, type Interned } from "./interned.ts";

/** The context lines of a bank ("staff call"), each distinct one kept once, with the terms they hold. */
export interface Contexts {
  readonly lines: Interned;
  /** Numbers of the contexts that hold the term. */
  holding(term: string): Iterable<number>;
}

export function createContexts(): Contexts {
  const byTerm = new Map<string, Set<number>>();
  const lines = createInterned(
    (id, text) => {
      for (const term of new Set(analyze(text))) {
        const ids = byTerm.get(term);
        if (ids === undefined) byTerm.set(term, new Set([id]));
        else ids.add(id);
      }
    },
    (id, text) => {
      for (const term of new Set(analyze(text))) {
        const ids = byTerm.get(term);
        ids?.delete(id);
        if (ids?.size === 0) byTerm.delete(term);
      }
    },
  );
  return { lines, holding: (term) => byTerm.get(term) ?? [] };
}
