/** English rules that class sentences: what is a preference, a question, mere politeness, an effect of what came before. */

const subject = String.raw`(?:[Ii]|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|who|\p{Lu}\p{Ll}+)(?:['’]d)?`;
const adverbs =
  "(?: (?:and|also|just|always|really|still|absolutely|totally|kinda|truly|both|all|do|does|actually|particularly|especially|usually|would|much))*";
const liking =
  "(?:loved?|loves|liked?|likes|enjoy(?:s|ed)?|prefer(?:s|red)?|hated?|hates|dislikes?|adores?|wants?|wish|wishes|craves?|appreciates?|despises?)";
/** "Sounds like", "I want to say": the verb without the liking. */
const notLiking = "(?: to (?:let|say|tell|ask|share|thank|hear|see|know))";
const opener =
  "(?:Sounds|Looks|Feels|Seems|Things|Just|Stuff|Nothing|Something|Much|More|Would|Your|My|Our|His|Her|Their|The|This|That|It)";

const preferencePatterns = [
  new RegExp(`(?<![\\p{L}])(?!${opener})${subject}${adverbs} ${liking}(?!\\p{L})(?!${notLiking})`, "u"),
  new RegExp(
    `(?<![\\p{L}])(?!${opener})${subject}(?:['’](?:m|s|re|ve)| am| is| are| have| has)? (?:always|usually|normally|typically|tend to|tends to|rarely|often)(?!\\p{L})`,
    "u",
  ),
  /\b(?:can['’]t stand|(?:don|doesn)['’]t (?:really |even )?(?:like|enjoy|want|care for)|would rather|['’]d rather|fan of|favou?rites?|allerg(?:y|ic) to|keen on|obsessed with|addicted to)\b/i,
  /(?:['’]m|['’]s|['’]re|\bam|\bis|\bare) (?:(?:not|really|so|very|super|totally|also) )*into\b/i,
  /\bevery (?:day|morning|evening|night|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/i,
];

/** A like, dislike, wish, choice or standing habit. Questions about one are none. */
export function statesPreference(sentence: string): boolean {
  return preferencePatterns.some((pattern) => pattern.test(sentence));
}

/** Words that hold no information however combined. "Yes" and "no" answer something and are not among them. */
const fillers: ReadonlySet<string> = new Set(
  [
    "wow woah whoa hey hi hello hiya howdy bye goodbye thanks thank thx cheers congrats congratulations yay woohoo aww aw awww oh ooh",
    "ah ha haha hahaha lol lmao omg ok okay cool nice great awesome amazing wonderful fantastic lovely sweet neat super fab perfect",
    "interesting impressive incredible exciting yeah yep yup sure hmm hm mmm mm um uh well absolutely definitely totally exactly indeed",
    "anytime welcome care later soon morning afternoon evening night please sorry good so much very really pretty quite that sounds",
    "all everyone guys buddy bro dude girl man lots bunch million again too",
  ]
    .join(" ")
    .split(" "),
);

/** Function words that may stand between fillers. */
const glue: ReadonlySet<string> = new Set(
  "a an the that that's it it's this is was you your you're to for and be i my of are".split(" "),
);

/** Longer sentences say something even when every word is weak. */
const FILLER_WORDS_MAX = 8;

/** Bare greetings, thanks and exclamations. `isPerson` tells the names that may be addressed in them. */
export function isFiller(sentence: string, isPerson: (name: string) => boolean): boolean {
  const words = sentence.match(/[\p{L}\p{N}]+(?:['’]\p{L}+)?/gu) ?? [];
  if (words.length === 0 || words.length > FILLER_WORDS_MAX || asksSomething(sentence)) return false;
  const lower = words.map((word) => word.toLowerCase().replace("’", "'"));
  return (
    lower.some((word) => fillers.has(word)) &&
    lower.every((word, i) => fillers.has(word) || glue.has(word) || isPerson(words[i]!))
  );
}

export function asksSomething(sentence: string): boolean {
  return /[?？؟]/.test(sentence);
}

export function endsWithQuestion(sentence: string): boolean {
  return /[?？؟](?:[\s"'”’»)\]!.\p{Extended_Pictographic}]|\ufe0f)*$/u.test(sentence);
}

/** The speaker talks of himself. */
export function isFirstPerson(sentence: string): boolean {
  return /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]urs?|[Oo]urselves)\b/.test(sentence); // "US" is a country
}

/** Opens with a word that makes it an effect of what was said just before. "So cool!" does not. */
export function isEffect(sentence: string): boolean {
  return (
    /^(?:therefore|hence|consequently|as a result|because of (?:this|that|it)|that['’]s why|this is why|which is why|for that reason)\b/i.test(
      sentence,
    ) ||
    (/^so,? (?:i|we|he|she|they|it|my|our|his|her|their|the|now|then)\b/i.test(sentence) && !asksSomething(sentence))
  );
}

const timeWords =
  /\b(?:yesterday|today|tonight|tomorrow|ago|recent|recently|lately|(?:last|next|this|past|every) (?:night|day|week|weekend|month|year|summer|winter|spring|fall|autumn|time)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|april|june|july|august|september|october|november|december|in may|in march|(?:for|since|in|over) (?:the |about |almost |over |nearly )?(?:last |past )?(?:an?|\d+|one|two|three|four|five|six|seven|eight|nine|ten|few|several|many|couple of) (?:more )?(?:days?|weeks?|months?|years?|decades?)|since (?:i|we|he|she|they|the|last|then)|soon|earlier)\b/i;

/** A word of time, also where it gives no interval ("recently", "for two years"). */
export function mentionsTime(sentence: string): boolean {
  return timeWords.test(sentence);
}
