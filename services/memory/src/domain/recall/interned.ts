/** A counted set of equal strings: each distinct one gets a small number, so that a query looks at it once however many units share it. */
export interface Interned {
  retain(value: string): number;
  release(id: number): void;
  valueOf(id: number): string;
  /** 0 for a number that is free. */
  usesOf(id: number): number;
  /** Numbers given out are below this. */
  readonly idCount: number;
}

/** `onFirst` and `onLast` run when a value comes into use and when it goes out of use. */
export function createInterned(
  onFirst: (id: number, value: string) => void = () => {},
  onLast: (id: number, value: string) => void = () => {},
): Interned {
  const ids = new Map<string, number>();
  const values: string[] = [];
  const uses: number[] = [];
  const freeIds: number[] = [];
  return {
    retain(value) {
      let id = ids.get(value);
      if (id === undefined) {
        id = freeIds.pop() ?? values.length;
        values[id] = value;
        uses[id] = 0;
        ids.set(value, id);
        onFirst(id, value);
      }
      uses[id]!++;
      return id;
    },
    release(id) {
      uses[id]!--;
      if (uses[id]! > 0) return;
      onLast(id, values[id]!);
      ids.delete(values[id]!);
      values[id] = "";
      freeIds.push(id);
    },
    valueOf: (id) => values[id]!,
    usesOf: (id) => uses[id]!,
    get idCount() {
      return values.length;
    },
  };
}
