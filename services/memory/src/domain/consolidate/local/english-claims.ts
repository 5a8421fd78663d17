import { analyze } from "../../text/analyzer.ts";
import { stemEnglish } from "../../text/english/stem.ts";
import { splitSentences } from "../../text/sentences.ts";
import {
  attributeNouns,
  classOfWord,
  diets,
  disliking,
  isOccupation,
  liking,
  maritalStates,
  meats,
  oppositeOf,
  using,
} from "./english-classes.ts";

/** Something that a sentence says of somebody's present state. */
export interface Claim {
  /** Who and in which respect. Claims of one topic can bear out or exclude one another. */
  readonly topic: string;
  /** Index terms of what is said, in order. */
  readonly value: readonly string[];
  /** False: it does not hold, or no longer. */
  readonly holds: boolean;
  /** True: any two different values exclude one another; false: only a statement and its denial do. */
  readonly isSingle: boolean;
  /** Index terms of which a sentence of this topic has at least one; undefined where no word is certain. */
  readonly cues: readonly string[] | undefined;
}

/** What one clause is about: `who` is a folded name, "self" for the speaker, or the terms of a noun phrase. */
interface Clause {
  readonly who: string;
  /** Terms of a noun phrase of which the predicate is said ("my favourite color", "the deadline of the project"). */
  readonly noun: readonly string[];
  readonly predicate: string;
}

/** Claims of a sentence without its speaker's label, in plain statements of the present; wishes, plans and doubts give none. */
export function claimsOf(sentence: string, speaker: string): Claim[] {
  if (/[?？]/.test(sentence)) return [];
  const claims: Claim[] = [];
  let subject = "";
  for (const part of clausesOf(sentence)) {
    const text = plain(part);
    const own = subjectsOf(text);
    const readings = own.length > 0 ? own : subject === "" ? [] : subjectsOf(`${subject} ${text}`);
    if (own.length > 0) subject = subjectText(text);
    for (const clause of readings) {
      const found = predicateClaims(clause);
      if (found.length === 0) continue;
      claims.push(...found);
      break;
    }
  }
  const resolved = claims.map((claim) => ({ ...claim, topic: claim.topic.replace("self", speaker) }));
  return resolved.filter((claim, i) => resolved.findIndex((other) => sameClaim(claim, other)) === i);
}

const sameClaim = (a: Claim, b: Claim): boolean =>
  a.topic === b.topic && a.holds === b.holds && a.value.join(" ") === b.value.join(" ");

/** Ways in which a sentence begins before it comes to the point. */
const opener =
  /^(?:(?:actually|well|so|ok|okay|hey|oh|yes|yeah|no|update|correction|fyi|btw|by the way|note|reminder|also|and|but|then|now|today|lately|recently|currently|these days|nowadays|honestly|turns out|it turns out|in fact|to be clear|just so you know|good news|big news|from now on|at the moment|right now|for now|finally|sadly|unfortunately|luckily|anyway|in the end|after all|by now|(?:as of|since|starting|from|after|in|on|last|this|next) (?:[\p{L}\p{N}]+ ){0,3}?(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|week|month|year|today|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{4}|now|weekend))\s*[,:!.—-]?\s+(?:that\s+)?)+/iu;

const verbStart =
  "(?:i|we|he|she|they|it|my|now|live|lives|living|work|works|moved|relocated|switched|changed|started|stopped|quit|gave|prefer|prefers|love|loves|hate|hates|like|likes|use|uses|drink|drinks|eat|eats|drive|drives|joined|took|became|am|is|are|has|have|no longer|do not|does not|don['’]t|doesn['’]t|only)";

/** Main clauses: at stops, dashes, semicolons, and where a conjunction begins a new statement. */
function clausesOf(text: string): string[] {
  return splitSentences(text).flatMap((sentence) => splitClauses(sentence));
}

function splitClauses(sentence: string): string[] {
  return sentence
    .split(
      new RegExp(
        `(?:[;—–]|\\s-\\s|!(?=\\s|$)|,?\\s+(?:because|since (?=i|we|he|she|they)|although|though|while|whereas|which|who|when|so that|even though)\\s|,\\s*(?:and|but|so|yet|then)\\s+|\\s(?:and|but|so)\\s+(?=${verbStart}\\b)|,\\s+(?=(?:i|we|he|she|they|my)\\b)|:\\s)`,
        "iu",
      ),
    )
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Contractions written out, openers and weak adverbs left out, so that rules see one form. */
function plain(clause: string): string {
  let text = clause.replace(/[’]/g, "'").replace(/["“”]/g, "");
  text = text.replace(opener, "");
  return text
    .replace(/\bcan't\b|\bcannot\b/gi, "can not")
    .replace(/\bwon't\b/gi, "will not")
    .replace(/n't\b/gi, " not")
    .replace(/\b(I)'m\b/gi, "$1 am")
    .replace(/\b(\w+)'re\b/gi, "$1 are")
    .replace(/\b(\w+)'ve\b/gi, "$1 have")
    .replace(/\b(I|we|you|they|he|she)'d rather\b/gi, "$1 prefer")
    .replace(/\b(he|she|it|that)'s\b/gi, "$1 is")
    .replace(/\b(?:would|'d) rather\b/gi, "prefer")
    .replace(/\b(?:decided to|chose to) (?=\w)/gi, "")
    .replace(
      /\b(?:really|actually|just|also|still|always|usually|definitely|absolutely|finally|officially|recently|generally|mostly|typically|normally|personally|truly|totally|completely|even|already|basically|strongly|greatly|very much|sincerely|simply|officially|now|currently|permanently|both|quite|kind of|sort of|pretty much|definitively|as well|too) /gi,
      "",
    )
    .replace(/\s+/g, " ")
    .replace(/[.,!\s]+$/, "")
    .trim();
}

const self = /^(?:i|we)\s+(.+)$/iu;
const name = String.raw`\p{Lu}[\p{L}'-]*(?:\s\p{Lu}[\p{L}'-]*){0,2}`;
const possessed = new RegExp(`^(my|our|the|this|that|${name}'s?)\\s+(.+)$`, "u");
const possessedLoose = /^(my|our|the|this|that)\s+(.+)$/iu;
const named = new RegExp(`^((?:The |the )?${name}|the user|user|customer|the customer)\\s+(.+)$`, "u");
const notNames =
  /^(?:The|This|That|It|There|My|Our|Your|I|We|He|She|They|If|When|Now|No|Not|Some|Every|Most|Many|All|What|How|Why)\b/;
/** Words of a noun phrase before the verb, as many as are tried. */
const nounWordsMax = 7;

function subjectText(text: string): string {
  return /^(?:i|we)\b/iu.exec(text)?.[0] ?? new RegExp(`^${name}(?!')`, "u").exec(text)?.[0] ?? "";
}

/** The ways to cut a clause into what it is about and what it says of it, the likeliest first. */
function subjectsOf(text: string): Clause[] {
  const own = self.exec(text);
  if (own) return [{ who: "self", noun: [], predicate: own[1]! }];
  const clauses: Clause[] = [];
  const held = possessed.exec(text) ?? possessedLoose.exec(text);
  if (held && !/^(?:he|she|it)'s$/i.test(held[1]!)) {
    const owner = held[1]!.toLowerCase();
    const who =
      owner === "my" || owner === "our" ? "self" : /^(?:the|this|that)$/.test(owner) ? "the" : fold(held[1]!.replace(/'s?$/, ""));
    const rest = held[2]!.split(" ");
    for (let n = 1; n <= Math.min(nounWordsMax, rest.length - 1); n++) {
      const noun = nounTerms(rest.slice(0, n).join(" ").toLowerCase());
      if (noun.length > 0) clauses.push({ who, noun, predicate: rest.slice(n).join(" ") });
    }
    return clauses;
  }
  const person = named.exec(text);
  if (person && !notNames.test(person[1]!)) {
    const parts = person[1]!.split(" ");
    for (let n = parts.length; n >= 1; n--) {
      const who = fold(parts.slice(0, n).join(" ").replace(/^the /i, ""));
      clauses.push({ who, noun: [], predicate: [...parts.slice(n), person[2]!].join(" ") });
    }
  }
  return clauses;
}

const fold = (text: string): string => text.toLowerCase();

const nounTerms = (noun: string): string[] =>
  noun
    .replace(/\b(?:new|current|latest|updated|official|usual|main|personal|own)\b/g, " ")
    .replace(/favourite|all-time favorite|fave/g, "favorite")
    .split(/[^\p{L}\p{N}']+/u)
    .filter((word) => word !== "" && !/^(?:of|for|the|a|an|in|at|on|to|and|'s)$/.test(word))
    .map((word) => word.replace(/'s?$/, ""))
    .map(stemEnglish);

/** Not said as a fact of the present. */
const unreal =
  /^(?:would|could|might|may|should|shall|going to|am going to|are going to|is going to|gonna|wants? to|want|wants|wish|wishes|hopes?|hoping|am hoping|plans?|am planning|is planning|planning|(?:am |is |are )?(?:thinking|considering|wondering|trying|looking)|consider|considers|needs? to|tr(?:y|ies) to|guess|think|thinks|believe|suppose|wonder|doubt|heard|hear|asked|told|said|says|remember|had|did|was(?! (?:moved|changed|pushed|updated|postponed|rescheduled|raised|lowered|increased|reduced|renamed|set|promoted|diagnosed|hired|laid off|let go|fired))|were(?! (?:moved|changed|pushed|updated|postponed|rescheduled|raised|lowered))|used to be able|have been thinking|almost|nearly|will (?!be\b|start|move)|am about|imagine|pretend|wished|wanted)\b/i;

const cutTime =
  /(?:\s|^)(?:since|last|this|next|ago|yesterday|today|tonight|tomorrow|anymore|any more|any longer|again|nowadays|these days|at the moment|right now|for now|as of|starting|from now on|every|each|daily|weekly|regularly|often|sometimes|twice|once|a lot|so much|very much|most of the time|all the time|for (?:\d+|a few|two|three|four|five|six|several|many|the last|the past|about|over|almost) ?\w*|in (?:\d{4}|the (?:morning|evening|afternoon|last|past)|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter)|on (?:weekends|weekdays|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?|(?:with|together with) (?:my|his|her|our|their)|to be closer|to be near|instead|now|full[- ]time|part[- ]time|because|after (?:\d|a|the|my|two|three)|until|before|thanks to|due to|than ever|at all|more than|and )\b.*$/i;

/** The terms of an object, without the time that a sentence gives. */
function objectTerms(text: string): string[] {
  const cut = text.replace(/[,(].*$/, "").replace(cutTime, "");
  return analyze(cut).filter((term) => !weak.has(term));
}

/** The terms of a value in full, its time included: "June 15 at noon". Codes and addresses count letter by letter. */
function valueTerms(text: string): string[] {
  const cut = text
    .replace(/\s?\b(?:anymore|any more|instead|now|currently|these days|nowadays|again|from now on|at the moment)\b.*$/i, "")
    .replace(/\s(?:instead of|rather than|over)\s.*$/i, "");
  return cut.split(/\s+/).flatMap((word) => (/[@\d_/]/.test(word) ? [word.toLowerCase()] : analyze(word)));
}

const weak: ReadonlySet<string> = new Set([
  "new",
  "now",
  "lot",
  "own",
  "nice",
  "great",
  "littl",
  "more",
  "most",
  "bit",
  "still",
  "too",
]);

/** The noun that a value turns on: the last word before a preposition. */
function headOf(text: string): string {
  const phrase = text
    .replace(/[,(].*$/, "")
    .replace(cutTime, "")
    .split(/\s(?:with|in|on|at|for|from|after|before|without|of|by|to)\s/i)[0]!;
  return analyze(phrase).at(-1) ?? "";
}

const single = (topic: string, value: readonly string[], cues: readonly string[] | undefined, holds = true): Claim => ({
  topic,
  value,
  holds,
  isSingle: true,
  cues,
});

const cueTerms = (words: readonly string[]): string[] => [...new Set(words.flatMap(analyze))];
const residenceCues = cueTerms([
  "live",
  "lives",
  "living",
  "moved",
  "move",
  "relocated",
  "based",
  "reside",
  "settled",
  "home",
  "left",
]);
const workCues = cueTerms([
  "work",
  "working",
  "joined",
  "employed",
  "hired",
  "job",
  "left",
  "resigned",
  "started",
  "laid",
  "quit",
  "employer",
]);
const dietCues = cueTerms([...diets, ...meats, "diet"]);
const maritalCues = cueTerms([...maritalStates, "relationship", "broke", "seeing"]);
const preferenceCues = cueTerms(["prefer", "favor", "favour", "switched", "rather", "use", "drive", "instead"]);

function predicateClaims({ who, noun, predicate }: Clause): Claim[] {
  if (noun.length > 0) {
    const about = attributeClaims(who, noun, predicate);
    if (about.length > 0) return about;
    // "My sister lives in Rome": a person or thing of its own; where no verb follows, the cut is wrong.
    if (
      !/^(?:\w+s|moved|relocated|joined|left|became|stopped|quit|started|switched|no longer|never|are|do|have|live|work) /i.test(
        `${predicate} `,
      )
    )
      return [];
    if (/^(?:'s|address|business|boss)/i.test(predicate)) return [];
    const inner = `${who} ${noun.join(" ")}`;
    return stateClaims(inner, predicate, false);
  }
  const inverse = inverseAttribute(who, predicate);
  return inverse ? [inverse] : stateClaims(who, predicate, true);
}

const becomes =
  /^(?:is|are|will be|became|is going to be|(?:was|were|has been|have been|got|is being|has|have)?\s*(?:changed|moved|pushed(?: back| out)?|updated|postponed|rescheduled|raised|lowered|increased|reduced|renamed|set|switched|shifted|went up|went down|dropped|rose|grew) (?:to|for))\s+(.+)$/i;

/** "My favourite color is blue", "the deadline was moved to June 1". */
function attributeClaims(who: string, noun: readonly string[], predicate: string): Claim[] {
  if (noun.some((term) => /^(?:old|former|previous|first|last|next|second)$/.test(term))) return [];
  const head = noun.at(-1)!;
  const isFavorite = noun[0] === favorite && noun.length > 1;
  const isAttribute =
    isFavorite ||
    (noun.some((term) => attributeStems.has(term)) && attributeStems.has(noun[0] === undefined ? "" : attributeHead(noun, head)));
  if (!isAttribute) return [];
  const match = becomes.exec(predicate);
  if (!match || unreal.test(predicate)) return [];
  const said = match[1]!.replace(/^(?:no longer|not)\s+/i, "");
  const holds = said === match[1];
  if (
    /^(?:going|being|getting|coming|doing|\w+ing\b|so|too|very|in (?:the|my)|a (?:bit|little)|not sure|broken|lost|sick|great|good|fine|nice|late|old|here|there|visiting|like)\b/i.test(
      said,
    )
  )
    return [];
  const value = valueTerms(said);
  if (value.length === 0 || value.length > 10) return [];
  return [single(`${who}|${[...noun].sort().join(" ")}`, value, noun, holds)];
}

const favorite = stemEnglish("favorite");
const attributeStems: ReadonlySet<string> = new Set([...attributeNouns].map(stemEnglish));
/** "deadline of the project": the attribute may stand before what it belongs to. */
const attributeHead = (noun: readonly string[], head: string): string =>
  attributeStems.has(head) ? head : attributeStems.has(noun[0]!) ? noun[0]! : "";

/** "Blue is my favourite color", "Bob is my new manager". */
function inverseAttribute(who: string, predicate: string): Claim | undefined {
  const match = /^(?:is|are|became)\s+(my|our|\p{Lu}\p{L}*'s)\s+([\p{L}\s-]+)$/u.exec(predicate);
  if (!match) return undefined;
  const noun = nounTerms(match[2]!.toLowerCase());
  const head = noun.at(-1);
  if (
    head === undefined ||
    !(noun[0] === favorite || attributeStems.has(head)) ||
    noun.includes("old") ||
    noun.includes("former")
  )
    return undefined;
  const owner = /^(?:my|our)$/.test(match[1]!) ? "self" : fold(match[1]!.slice(0, -2));
  const value = analyze(who);
  if (value.length === 0 || who === "self") return undefined;
  return single(`${owner}|${noun.toSorted().join(" ")}`, value, noun);
}

function stateClaims(who: string, given: string, isPerson: boolean): Claim[] {
  const changed =
    /^(?:have |has )?(?:changed|updated|switched|moved|set|reset)\s+(?:my|our|his|her|their|the)\s+([\p{L}\s-]+?)\s+to\s+(.+)$/iu.exec(
      given,
    );
  if (changed)
    return attributeClaims(who, nounTerms(changed[1]!.toLowerCase()), `is ${changed[2]!.replace(/^from .* to /i, "")}`);
  const gotNew = /^(?:have |has )?(?:got|gotten|have|has)\s+a new\s+([\p{L}\s-]+?)\s*[:,]\s*(.+)$/iu.exec(given);
  if (gotNew) return attributeClaims(who, nounTerms(gotNew[1]!.toLowerCase()), `is ${gotNew[2]!}`);
  if (unreal.test(given)) return [];
  const exchange = exchangeClaims(who, given);
  if (exchange.length > 0) return exchange;

  const { verb, rest, holds, isDoubtful } = polarityOf(given);
  if (isDoubtful || verb === "") return [];
  const state = knownState(who, `${verb} ${rest}`.trim(), holds);
  if (state.length > 0) return state;
  if (!isPerson && holds && !isPresent(verb)) return [];
  return actionClaims(who, verb, rest, holds);
}

interface Polarity {
  readonly verb: string;
  readonly rest: string;
  readonly holds: boolean;
  readonly isDoubtful: boolean;
}

/** Takes the denial, or the word of beginning or ending, off a predicate. */
function polarityOf(predicate: string): Polarity {
  let text = predicate.replace(
    /^(?:have|has) (?=(?:stopped|quit|given|started|begun|switched|become|moved|joined|relocated|settled|outgrown|cut|gone|lost|never|left|been|developed)\b)/i,
    "",
  );
  let holds = true;
  const take = (pattern: RegExp, value: boolean): boolean => {
    const next = text.replace(pattern, "");
    if (next === text) return false;
    text = next;
    holds = value;
    return true;
  };
  if (/^(?:rarely|seldom|hardly|sometimes|occasionally)\b/i.test(text)) return { verb: "", rest: "", holds, isDoubtful: true };
  const isEnded =
    take(/^(?:no longer|never)\s+/i, false) ||
    take(/^(?:am|is|are|do|does) (?:no longer|not|never)\s+/i, false) ||
    take(/^(?:can|could) (?:no longer|not)\s+(?=eat|drink|have|tolerate)/i, false) ||
    take(
      /^(?:stopped|quit|stop|gave up|given up|give up|am done|is done|cut out|have stopped|swore off|kicked) (?:being |with )?/i,
      false,
    ) ||
    take(/^used to\s+/i, false) ||
    take(/^not\s+/i, false);
  if (
    isEnded &&
    /^(?:am|is|are)\b/i.test(predicate) &&
    !/^(?:am|is|are)\b/i.test(text) &&
    !/^(?:living|working|drinking|eating|using|smoking|driving|dating|studying|playing|taking|learning|wearing|reading|doing)\b/i.test(
      text,
    )
  )
    text = `am ${text}`;
  if (!isEnded) {
    take(
      /^(?:started|began|begun|have started|am back to|is back to|went back to|resumed|took up|got into|got back into) (?:to )?(?:being )?(?=\w+ing\b|\w)/i,
      true,
    );
    text = text.replace(
      /^(?:am|is|are|have been|has been) (?=(?:living|working|drinking|eating|using|smoking|driving|dating|studying|playing|taking|learning|wearing|reading|doing)\b)/i,
      "",
    );
  }
  const isDenied = /\b(?:anymore|any more|any longer)\b/i.test(text);
  if (isDenied && holds) return { verb: "", rest: "", holds, isDoubtful: true };
  const [verb = "", ...rest] = text.split(" ");
  // Something given up by its name alone: "quit coffee".
  if (
    isEnded &&
    /^(?:stopped|quit|gave|given|cut|swore|kicked)/i.test(predicate.replace(/^(?:have|has) /i, "")) &&
    !/ing$/i.test(verb)
  ) {
    return { verb: "use", rest: text, holds, isDoubtful: false };
  }
  if (!isEnded && /^(?:took up|got into|got back into)/i.test(predicate) && !/ing$/i.test(verb))
    return { verb: "like", rest: text, holds, isDoubtful: false };
  return { verb: verb.toLowerCase(), rest: rest.join(" "), holds, isDoubtful: false };
}

/** States that have a form of their own: where somebody lives and works, what they eat, whom they are with. */
function knownState(who: string, text: string, holds: boolean): Claim[] {
  const residence =
    /^(?:(?:live|lives|living|reside|resides|residing|stay|stays)(?: over)? (?:in|on|near|at)|(?:moved|relocated|settled|move)(?: back| down| out| over| up| away)?(?: from .+?)? (?:to|in|into)|(?:am|is|are) (?:based|living|settled|located) (?:in|at|near)|based in)\s+(.+)$/i.exec(
      text,
    );
  if (
    residence &&
    !/^(?:a new (?:house|flat|apartment|place|role|team)|the (?:couch|next|end|front|back))\b/i.test(residence[1]!)
  ) {
    const value = placeTerms(residence[1]!);
    return value.length === 0 ? [] : [single(`${who}|residence`, value, residenceCues, holds)];
  }
  const work =
    /^(?:(?:work|works|working) (?:at|for)|(?:am|is|are) (?:employed|working) (?:at|by|for)|joined(?: up with)?|(?:started|start|began) (?:work|working|a (?:new )?(?:job|role|position)|my new job|as .+?) (?:at|with|for)|(?:a (?:new )?(?:job|role|position)) (?:at|with)|(?:got|took|accepted|have|has|landed) (?:hired (?:at|by)|a (?:new )?(?:job|role|position)(?: as .+?)? (?:at|with))|(?:was |got )?hired (?:at|by))\s+(.+)$/i.exec(
      text,
    );
  if (work && !/^(?:myself|himself|herself|home|a living|(?:the|a|an|my|our) \w+$|\d)/i.test(work[1]!)) {
    const value = placeTerms(work[1]!.replace(/\s(?:as|for|to)\s.*$/i, ""));
    return value.length === 0 ? [] : [single(`${who}|employer`, value, workCues, holds)];
  }
  const left =
    /^(?:left|resigned from|(?:was )?(?:laid off|fired|let go) (?:from|by)|(?:quit|left) (?:my|his|her|the) job at)\s+(?:my job at |his job at |her job at )?(\p{Lu}.+?)(?:\s(?:for|to join|and joined)\s+(\p{Lu}.+))?$/u.exec(
      text,
    );
  if (left && holds) {
    const next = left[2] === undefined ? [] : [single(`${who}|employer`, placeTerms(left[2]), workCues)];
    const gone = placeTerms(left[1]!);
    return [single(`${who}|employer`, gone, workCues, false), single(`${who}|residence`, gone, residenceCues, false), ...next];
  }
  const allergy =
    /^(?:(?:am|is|are|became|become) (?:\w+ )?(?:allergic|intolerant) to\s+(.+)|(?:have|has|got|developed|outgrew|outgrown|lost) (?:my |his |her |a |an |the )?(?:\w+ )??([\p{L}]+) (?:allergy|intolerance))$/iu.exec(
      text,
    );
  if (allergy) {
    const object = allergy[1] ?? allergy[2]!;
    const isOver = /^(?:outgr|lost)/i.test(text);
    return [
      denial(
        `${who}|allergic|${headOf(object)}`,
        objectTerms(object),
        holds && !isOver,
        cueTerms(["allergic", "allergy", "intolerant", "intolerance"]),
      ),
    ];
  }
  const age = /^(?:am|is|turned|just turned)\s+(\d{1,3})(?: years?(?: |-)old)?$/i.exec(text);
  if (age) return [single(`${who}|age`, [age[1]!], undefined, holds)];
  return complementClaims(who, text, holds);
}

const be =
  /^(?:am|is|are|be|being|became|become|turned|went|go|gone|feel|feels)\s+(?:a |an |the )?(?:strict |lifelong |committed |full-time |big |huge |great )?(.+)$/i;

/** What somebody or something is. */
function complementClaims(who: string, text: string, holds: boolean): Claim[] {
  const asJob =
    /^(?:work|works|working|am working|got promoted|was promoted|got a job|promoted|a job) (?:as|to)\s+(?:a |an |the )?(.+)$/i.exec(
      text,
    );
  const complement = asJob?.[1] ?? be.exec(text)?.[1] ?? (/^(?:vegan|vegetarian|pescatarian)\b/i.test(text) ? text : undefined);
  if (complement === undefined) {
    const meat = /^(?:eat|eats|eating) (?:\w+ )??(\w+)/i.exec(text);
    if (meat && holds && meats.has(meat[1]!.toLowerCase()))
      return [
        single(`${who}|diet`, ["omnivor"], dietCues),
        denial(`${who}|use|${headOf(meat[1]!)}`, objectTerms(meat[1]!), true, analyze(meat[1]!)),
      ];
    if (/^(?:got |get )?(?:married|divorced|engaged|separated)\b/i.test(text) && holds)
      return marital(who, text.replace(/^got |^get /i, "").split(" ")[0]!, holds);
    if (/^(?:broke|broken) up with\b/i.test(text)) return marital(who, "single", true);
    if (/^(?:dating|date|dates|seeing)\b/i.test(text)) return marital(who, "dating", holds);
    return [];
  }
  const term = complement.split(/[\s,.]/)[0]!.toLowerCase();
  if (diets.has(term)) return [single(`${who}|diet`, analyze(term), dietCues, holds)];
  if (maritalStates.has(term) || /^in a relationship/i.test(complement))
    return marital(who, maritalStates.has(term) ? term : "dating", holds);
  const liked = /^(?:fan of|(?:so |really )?into|fond of|keen on|crazy about|obsessed with|passionate about)\s+(.+)$/i.exec(
    complement,
  );
  if (liked) return [denial(`${who}|like|${headOf(liked[1]!)}`, objectTerms(liked[1]!), holds, headCues(liked[1]!))];
  const tired = /^(?:tired|sick|over|done with|bored of|bored with)(?: of)?\s+(.+)$/i.exec(complement);
  if (tired && holds) return [denial(`${who}|like|${headOf(tired[1]!)}`, objectTerms(tired[1]!), false, headCues(tired[1]!))];
  const head = headOf(complement.toLowerCase());
  const rawHead = complement
    .toLowerCase()
    .split(/\s(?:with|in|on|at|for|from|of|by|to|and)\s/)[0]!
    .replace(cutTime, "")
    .trim()
    .split(" ")
    .at(-1)!;
  if (asJob || (holds && isOccupation(rawHead))) {
    return [single(`${who}|occupation`, objectTerms(complement.split(/\s(?:at|in|for|with|from)\s/i)[0]!), undefined, holds)];
  }
  const opposite = oppositeOf.get(term);
  if (opposite !== undefined) {
    const tail = complement.split(" ").slice(1).join(" ");
    const pair = [term, opposite].sort().join("/");
    const value = holds ? term : opposite;
    return [single(`${who}|${pair}|${analyze(tail).join(" ")}`, [value], cueTerms([term, opposite]))];
  }
  const value = objectTerms(complement);
  return value.length === 0 || head === "" ? [] : [denial(`${who}|be|${head}`, value, holds, headCues(complement))];
}

const marital = (who: string, state: string, holds: boolean): Claim[] => [
  single(`${who}|marital`, [state.toLowerCase()], maritalCues, holds),
];

const denial = (topic: string, value: readonly string[], holds: boolean, cues: readonly string[]): Claim => ({
  topic,
  value,
  holds,
  isSingle: false,
  cues,
});

const headCues = (text: string): string[] => [headOf(text)];

/** One thing for another: "switched from tea to coffee", "prefer trains over planes". */
function exchangeClaims(who: string, text: string): Claim[] {
  const swapped =
    /^(?:have |has )?(?:switched|changed|converted|gone|went|migrated|moved)(?: over)?(?: back)? from\s+(.+?)\s+to\s+(.+)$/i.exec(
      text,
    ) ??
    reversed(
      /^(?:have |has )?(?:traded|swapped|exchanged|replaced|ditched|gave up|dropped|swap)\s+(?:my |the |our )?(.+?)\s+(?:for|with|in favou?r of)\s+(.+)$/i.exec(
        text,
      ),
    );
  if (swapped && !/^(?:moved|went)/i.test(text)) return [...gaveUp(who, swapped[1]!), ...tookUp(who, swapped[2]!)];
  const switched = /^(?:have |has )?(?:switched|converted|gone over|migrated|moved on)(?: over)?(?: back)? to\s+(.+)$/i.exec(
    text,
  );
  if (switched) return tookUp(who, switched[1]!.replace(/\s(?:instead of|from)\s.*$/i, ""));
  const preferred = /^(?:do not |no longer |does not )?(?:prefer|prefers|favor|favors|favour|favours|preferred)\s+(.+)$/i.exec(
    text,
  );
  if (!preferred) {
    const instead = /^(?:\w+)\s+(?:my |the )?(.+?)\s+(?:instead of|rather than)\s+(?:my |the )?(.+)$/i.exec(text);
    return instead ? [...gaveUp(who, instead[2]!), ...tookUp(who, instead[1]!)] : [];
  }
  const isDenied = /^(?:do not|no longer|does not)/i.test(text);
  const [chosen = "", over] = preferred[1]!.split(/\s(?:over|to(?! )|rather than|instead of|more than)\s|\s(?:than)\s/i);
  const [main = "", to] =
    over === undefined ? chosen.split(/(?<!^)\sto\s(?!be\b|do\b|have\b|work\b|eat\b|drink\b|use\b|go\b)/i) : [chosen, over];
  const value = valueTerms(main);
  if (value.length === 0) return [];
  const topics = new Set([preferenceTopic(main)]);
  if (to !== undefined) topics.add(["pair", ...[headOf(main), headOf(to)].sort()].join(" "));
  return [...topics].map((topic) => single(`${who}|prefer|${topic}`, value, preferenceCues, !isDenied));
}

function reversed(match: RegExpExecArray | null): RegExpExecArray | null {
  return match;
}

/** In which respect one is preferred: the class of a word, the verb of an infinitive, else the noun. */
function preferenceTopic(object: string): string {
  const lower = object.toLowerCase().replace(cutTime, (tail) => (/in the (?:morning|evening|afternoon)/i.test(tail) ? tail : ""));
  const infinitive = /^(?:to )(\w+)|^(\w+ing)\b(?= \w)/.exec(lower);
  if (infinitive) return stemEnglish((infinitive[1] ?? infinitive[2])!);
  const head = headOf(object);
  const phrase = lower.split(/\s(?:in|on|at|for|with|from|by)\s/)[0]!;
  for (const word of phrase.split(/[^\p{L}-]+/u).toReversed()) {
    const name = classOfWord.get(word);
    if (name !== undefined) return name;
  }
  return head;
}

function gaveUp(who: string, object: string): Claim[] {
  const value = objectTerms(object);
  if (value.length === 0) return [];
  const head = headOf(object);
  return ["use", "like", "drive"].map((verb) => denial(`${who}|${verb}|${head}`, value, false, [head]));
}

function tookUp(who: string, object: string): Claim[] {
  const value = objectTerms(object);
  if (value.length === 0) return [];
  const topic = preferenceTopic(object);
  const head = headOf(object);
  const claims: Claim[] = [denial(`${who}|use|${head}`, value, true, [head])];
  if (classOfWord.has(object.toLowerCase().split(" ").at(-1)!) || topic !== head)
    claims.push(single(`${who}|prefer|${topic}`, value, preferenceCues));
  return claims;
}

/** Verbs with one object at a time. */
const singleVerbs: ReadonlySet<string> = new Set(["drive", "studi", "major", "weigh", "report", "attend"]);
/** "Reports to Mark", but not "drives to work". */
const ownPreposition: ReadonlyMap<string, RegExp> = new Map([
  ["report", /^to\s/i],
  ["major", /^in\s/i],
]);
/** Classes of which people use one at a time. */
const usedOneAtATime: ReadonlySet<string> = new Set(["phone", "browser", "editor", "system"]);

/** Anything else that somebody does or does not. */
function actionClaims(who: string, verb: string, rest: string, holds: boolean): Claim[] {
  if (!/^[a-z]+$/.test(verb) || (holds && !isPresent(verb))) return [];
  const stem = stemEnglish(verb);
  const base = unstemmed(verb);
  if (/^(?:can|stand)$/.test(verb) || /^(?:not )?stand\b/i.test(rest)) {
    const object = rest.replace(/^(?:not )?stand\s+/i, "");
    return object === rest && verb !== "stand"
      ? []
      : [denial(`${who}|like|${headOf(object)}`, objectTerms(object), false, headCues(object))];
  }
  const counted = /^(?:have|has|own|owns|got)$/.test(verb)
    ? /^(\d+|two|three|four|five|six|seven|eight|nine|ten|one|no) ([\p{L}]+)$/iu.exec(rest.replace(cutTime, ""))
    : null;
  if (counted && holds)
    return [single(`${who}|count|${analyze(counted[2]!).at(-1)}`, [counted[1]!.toLowerCase()], analyze(counted[2]!))];
  const liked = liking.has(base) ? true : disliking.has(base) ? false : undefined;
  const wanted = /^(?:care)$/.test(verb) && /^for /i.test(rest) ? true : undefined;
  const object = wanted ? rest.slice(4) : rest;
  const value = objectTerms(object.replace(/^(?:to|of|for|with|on|in|at|about)\s+/i, ""));
  const head = headOf(object.replace(/^(?:to|of|for|with|on|in|at|about)\s+/i, ""));
  if (liked !== undefined || wanted) {
    if (head === "") return [];
    return [denial(`${who}|like|${head}`, value, (liked ?? true) === holds, [head])];
  }
  if (/^(?:am|is|are|be|have|has|do|does|get|got|go|know|mean|see|let|make|say|think|feel)$/.test(verb)) {
    if (!/^(?:have|has|go)$/.test(verb) || value.length === 0) return [];
  }
  if (value.length === 0 && holds && rest !== "") return [];
  const action = using.has(base) ? "use" : stem;
  const cues = head === "" ? [stem] : [head];
  const claims = [denial(`${who}|${action}|${head}`, value, holds, cues)];
  const usedClass = action === "use" ? classOfWord.get(object.toLowerCase().replace(cutTime, "").split(" ").at(-1)!) : undefined;
  const purpose = /^(?:use|uses|using)$/.test(verb) ? /\s(?:for|as)\s+(?:my |our |the )?(.+)$/i.exec(rest) : null;
  if (purpose)
    claims.push(
      single(
        `${who}|use for|${objectTerms(purpose[1]!).join(" ")}`,
        objectTerms(rest.slice(0, purpose.index)),
        objectTerms(purpose[1]!),
        holds,
      ),
    );
  else if (usedClass !== undefined && usedOneAtATime.has(usedClass))
    claims.push(single(`${who}|prefer|${usedClass}`, value, preferenceCues, holds));
  else if (
    singleVerbs.has(stem) &&
    value.length > 0 &&
    (ownPreposition.get(stem)?.test(rest) ?? !/^(?:to|from|in|on|with|for|by|past|around)\s/i.test(rest))
  )
    claims.push(single(`${who}|${stem}`, value, [stem], holds));
  return claims;
}

const irregularPast =
  /^(?:went|got|took|made|came|saw|met|gave|found|bought|won|lost|left|felt|began|ran|wrote|told|said|ate|drove|flew|brought|thought|been|had|did|was|were|knew|kept|sold|sent|spent|stood|spoke|slept|paid|heard|held|grew|fell|forgot|broke|built|caught|chose|drank|sang|sat|swam|taught|threw|understood|wore|woke)$/;

const isPresent = (verb: string): boolean =>
  (!/(?:[^e]ed|eed)$/.test(verb) && !irregularPast.test(verb)) || /^(?:need|feed|breed|speed)$/.test(verb);

/** "loves" and "loving" to "love", for the few verbs that rules name. */
function unstemmed(verb: string): string {
  for (const known of [...liking, ...disliking, ...using]) if (stemEnglish(known) === stemEnglish(verb)) return known;
  return verb;
}

function placeTerms(text: string): string[] {
  return objectTerms(
    text
      .replace(/\s(?:with|near|and|as|where|by|from|in order)\s.*$/i, "")
      .replace(/^(?:the city of|downtown|central|a (?:house|flat|apartment|village|town) (?:in|near))\s+/i, ""),
  );
}
