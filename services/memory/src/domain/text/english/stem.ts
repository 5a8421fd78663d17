import { newStemmer } from "snowball-stemmers";
import { irregularForms } from "./irregular-forms.ts";

const stemmer = newStemmer("english");

/** Joins inflected forms of an English word: irregular form to base, then Porter2. `word` is lower-case a-z. */
export function stemEnglish(word: string): string {
  return stemmer.stem(irregularForms.get(word) ?? word);
}
