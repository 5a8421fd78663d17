export type { Embedder, EmbedOptions } from "./embedder.ts";
export type * from "./language-model.ts";
export { languageModelConfig, languageModelConfigOf } from "./language-model-config.ts";
export { createLexicalEmbedder } from "./lexical-embedder.ts";
export { type EmbedderConfig, openEmbedder } from "./open-embedder.ts";
export { type LanguageModelConfig, openLanguageModel } from "./open-language-model.ts";
export { countTokens, cutToTokens } from "./tokens.ts";
