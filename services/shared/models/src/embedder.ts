/**
 * Turns text into vectors. Contract of every adapter:
 * - `embed` answers one vector per text, in order, each of `dimensions` numbers and of unit length (all zero only for
 *   a text without any feature);
 * - the same text always gives the same vector, whatever it is batched with;
 * - any well-formed Unicode string is accepted, the empty one too;
 * - it throws `unavailable` when a remote model does not answer after its retries, `cancelled` when `signal` aborts.
 */
export interface Embedder extends AsyncDisposable {
  /** Names the vector space: `<provider>/<model>/<version>`. Vectors of different ids are never compared. */
  readonly id: string;
  /** For `config` answers, for example `local`. */
  readonly provider: string;
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
}

export interface EmbedOptions {
  readonly signal?: AbortSignal;
  /** `query` texts are answered ahead of waiting `document` texts. Default `document`. */
  readonly purpose?: "query" | "document";
}
