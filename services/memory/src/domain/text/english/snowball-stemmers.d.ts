declare module "snowball-stemmers" {
  interface Stemmer {
    /** Expects a lower-case word. */
    stem(word: string): string;
  }
  export function newStemmer(language: "english"): Stemmer;
}
