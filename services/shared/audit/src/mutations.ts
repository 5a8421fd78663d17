const searches = new Set(["recall", "reflect"]);

/** True for an action that changes something. The others are recorded, too, but need not be refused when they cannot be. */
export function isMutation(action: string): boolean {
  return !searches.has(action);
}
