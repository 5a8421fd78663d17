/** What an English question wants to hear. All false for other languages, where ranking goes by words and meaning alone. */
export interface QuestionAims {
  /** When something happened. */
  readonly time: boolean;
  /** A name or a title. */
  readonly name: boolean;
  readonly place: boolean;
  /** A list gathered from many places: no single stretch of a conversation holds the answer. */
  readonly list: boolean;
}

/** The first kind that matches decides, so "how many books" is no question for a title. */
const kinds = [
  ["time", /\bwhen\b|\b(?:what|which) (?:day|date|week|month|year|season)s?\b|\bwhat time\b/],
  ["duration", /\bhow long\b/],
  ["number", /\bhow (?:many|much|often|old|far)\b/],
  ["place", /\bwhere\b/],
  ["person", /\bwho(?:m|se)?\b/],
  ["reason", /\bwhy\b|\bwhat (?:made|makes|motivated|inspired|prompted|caused)\b/],
  ["feeling", /\bfeel(?:s|ing|ings)?\b|\bfelt\b/],
  [
    "name",
    /\b(?:names?|named|called|titles?|titled|books?|novels?|movies?|films?|songs?|albums?|games?|bands?|brands?|series|shows?|artists?|authors?|which)\b/,
  ],
] as const;

const place =
  /\b(?:where|places?|city|cities|town|towns|country|countries|states?|locations?|trips?|travel(?:s|ed|ing|led|ling)?|visit(?:s|ed|ing)?|vacations?|destinations?|live[sd]?|moved?)\b/;

const listPatterns: readonly RegExp[] = [
  // "has she been reading", "have they won": a life's worth, not one event.
  /\b(?:has|have)\b(?: \S+){1,4}? (?:ever )?(?:\w{3,}ed|been|done|made|seen|read|won|written|gone|had|taken|given|bought|gotten|got|met|found|taught|told|held|lost|learnt|kept|built|run|drawn|sung|worn|eaten|grown|known|said)\b/,
  /\b(?:what|which) (?:kinds?|types?|sorts?) of\b/,
  /\b(?:what|which) (?:\w+ )?(?!(?:is|was|does|has|this|his|as|always|address|bus|class|dress|boss|news|less|process|business|status|campus|series|focus|bonus|canvas|species|virus|glass|illness|loss|mess|pass|press|stress|success|access|diagnosis|basis|analysis|crisis|thesis|tennis)\b)\w{2,}s\b/,
  /\bhow many\b/,
  /\bboth\b|\bin common\b/,
  /\bwhat (?:do|does) \S+(?: and \S+)? (?:\w+ly )?(?:like|love|enjoy|collect|play|do)\b/,
];

export function readAims(question: string, namesDate: boolean): QuestionAims {
  const text = question.toLowerCase();
  const kind = kinds.find(([, pattern]) => pattern.test(text))?.[0];
  return {
    time: kind === "time",
    name: kind === "name",
    place: place.test(text),
    list: !namesDate && listPatterns.some((pattern) => pattern.test(text)),
  };
}
