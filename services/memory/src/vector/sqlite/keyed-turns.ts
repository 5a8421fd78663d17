/**
 * Work on one key, in the order of the calls: shared work side by side with other shared work, exclusive work alone. A
 * failure does not hold up what comes after it. Work on different keys is independent.
 */
export interface KeyedTurns {
  shared<T>(key: string, work: () => Promise<T>): Promise<T>;
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

interface Turns {
  /** Ends with the exclusive work that was called last. */
  lastExclusive: Promise<unknown>;
  /** The shared work that was called since. */
  shared: Promise<unknown>[];
  unfinished: number;
}

export function createKeyedTurns(): KeyedTurns {
  const turnsByKey = new Map<string, Turns>();

  const turnsOf = (key: string): Turns => {
    const turns = turnsByKey.get(key) ?? { lastExclusive: Promise.resolve(), shared: [], unfinished: 0 };
    turnsByKey.set(key, turns);
    return turns;
  };
  /** Counts the work, so that a key without any is forgotten; the answer ends with the work and never fails. */
  const follow = (key: string, turns: Turns, work: Promise<unknown>): Promise<void> => {
    const done = (): void => {
      turns.unfinished -= 1;
      if (turns.unfinished === 0) turnsByKey.delete(key);
    };
    turns.unfinished += 1;
    return work.then(done, done);
  };

  return {
    shared(key, work) {
      const turns = turnsOf(key);
      const result = turns.lastExclusive.then(work);
      turns.shared.push(follow(key, turns, result));
      return result;
    },
    exclusive(key, work) {
      const turns = turnsOf(key);
      const result = Promise.all([turns.lastExclusive, ...turns.shared.splice(0)]).then(work);
      turns.lastExclusive = follow(key, turns, result);
      return result;
    },
  };
}
