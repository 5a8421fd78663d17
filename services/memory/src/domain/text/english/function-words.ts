/**
 * Words that carry grammar and no topic. Short on purpose: each further word measured (get, like, still ...) lost recall.
 * What is left of a contraction ("don't" -> don) is decided in the analyzer, so that Don stays a name.
 */
export const functionWords: ReadonlySet<string> = new Set(
  [
    "a an the this that these those",
    "i me my we us our you your he him his she her it its they them their",
    "am is are was were be been being do does did have has had will would can could should",
    "and or but if so than then as of to in on at by for with from into about",
    "what which who whom whose when where why how there here not just also too very some any",
  ]
    .join(" ")
    .split(" "),
);
