export interface VectorCache {
  /** The vector remembered for the text, which counts as used now. */
  get(text: string): Float32Array | undefined;
  /** Remembers the vector, forgetting the text that was not used for longest when there are too many. */
  set(text: string, vector: Float32Array): void;
}

/** Remembers the vectors of the texts used last. Long texts are left out: they are seldom asked twice and weigh more than their vector. */
export function createVectorCache(textsMax: number): VectorCache {
  const vectors = new Map<string, Float32Array>();
  return {
    get(text) {
      const vector = vectors.get(text);
      if (!vector) return undefined;
      // A map keeps the order of insertion, so moving to its end marks the text as used last.
      vectors.delete(text);
      vectors.set(text, vector);
      return vector;
    },
    set(text, vector) {
      if (text.length > CACHED_TEXT_CHARS_MAX) return;
      vectors.delete(text);
      vectors.set(text, vector);
      if (vectors.size > textsMax) vectors.delete(vectors.keys().next().value!);
    },
  };
}

const CACHED_TEXT_CHARS_MAX = 2048;
