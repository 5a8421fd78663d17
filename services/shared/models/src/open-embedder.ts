import type { Embedder } from "./embedder.ts";
import { createLexicalEmbedder } from "./lexical-embedder.ts";
import { type LocalEmbedderOptions, openLocalEmbedder } from "./local-embedder.ts";
import { type OpenaiEmbedderConfig, openOpenaiEmbedder } from "./openai-embedder.ts";

export type EmbedderConfig =
  | ({ readonly kind: "local" } & LocalEmbedderOptions)
  | { readonly kind: "lexical" }
  | ({ readonly kind: "openai" } & OpenaiEmbedderConfig);

/** The one place where configuration becomes an embedder. */
export async function openEmbedder(config: EmbedderConfig): Promise<Embedder> {
  switch (config.kind) {
    case "local":
      return openLocalEmbedder(config);
    case "lexical":
      return createLexicalEmbedder();
    case "openai":
      return openOpenaiEmbedder(config);
  }
}
