import type { FoundTime, TimeKind } from "../time-expressions.ts";
import { type DayRange, dateOf, monthsOf, oneDay, yearsOf } from "../utc-calendar.ts";
import {
  amountOf,
  daysAway,
  feastAt,
  monthAt,
  nearestYear,
  offsetOf,
  openWeekend,
  partOf,
  periodAt,
  type Setting,
  stepTo,
  unitDays,
  weekdayAt,
  weekendAt,
} from "./calendar-steps.ts";
import {
  monthIndex,
  monthSource,
  numberSource,
  seasonSource,
  seasonStartMonth,
  weekdayIndex,
  weekdaySource,
  yearSource,
} from "./calendar-words.ts";

/** Times that need the reference day, or that the general date parser does not know. Earlier rules win over later ones. */
export function relativeTimes(text: string, setting: Setting): FoundTime[] {
  const found: FoundTime[] = [];
  for (const rule of rules) {
    for (const match of text.matchAll(rule.pattern)) {
      const start = match.index;
      const end = start + match[0].length;
      if (found.some((other) => start < other.start + other.text.length && other.start < end)) continue;
      const range = rule.resolve(match.groups ?? {}, setting);
      if (range === undefined || range.to < range.from) continue;
      found.push({ range, kind: rule.kind, text: match[0], start, yearIsImplied: rule.yearIsImplied ?? false });
    }
  }
  return found;
}

type Groups = Readonly<Record<string, string | undefined>>;

interface Rule {
  readonly pattern: RegExp;
  readonly kind: TimeKind;
  readonly yearIsImplied?: boolean;
  /** Groups that the pattern always sets are read with `!`. */
  resolve(groups: Groups, setting: Setting): DayRange | undefined;
}

/** In `source` a space matches any white space and " ?" optional white space; the words must stand alone. */
function words(source: string, flags = "giu"): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${source.replaceAll(" ?", "\\s*").replaceAll(" ", "\\s+")})(?![\\p{L}\\p{N}])`, flags);
}

const part = "(?<part>early|mid|late|(?:the )?(?:beginning|start|middle|end) of)";
const step = "(?<step>last|this past|the past|past|previous|this|the coming|coming|next)";
const unit = "(?<unit>day|weekend|week|month|year|decade)s?";
const amount = `(?:(?<vague>(?:a )?couple(?: of)?|(?:a |the )?few|several)|(?<count>${numberSource}))`;

/** Years this far from the reference are meant as years (contract of the query window, used for facts as well). */
const YEARS_BACK_MAX = 120;
const YEARS_AHEAD_MAX = 20;

const rules: readonly Rule[] = [
  {
    pattern: words(
      `(?:(?:between|from) )?(?<first>${monthSource})(?: (?<firstYear>${yearSource}))? ?(?:and|to|until|till|through|[-–—]) ?(?<last>${monthSource})(?: of)?,? (?<year>${yearSource})`,
    ),
    kind: "date",
    resolve: ({ first, firstYear, last, year }) => {
      const from = monthsOf(Number(firstYear ?? year), monthIndex(first!)).from;
      return { from, to: monthsOf(Number(year), monthIndex(last!)).to };
    },
  },
  {
    pattern: words(`(?:between|from) (?<first>${monthSource}) (?:and|to|until|till|through) (?<last>${monthSource})(?! \\d)`),
    kind: "date",
    yearIsImplied: true,
    resolve: ({ first, last }, setting) => {
      const months = (monthIndex(last!) - monthIndex(first!) + 12) % 12;
      return nearestYear((year) => monthsOf(year, monthIndex(first!), months + 1), setting);
    },
  },
  {
    pattern: words(`(?:between|from) (?<first>${yearSource}) (?:and|to|until|till|through) (?<last>${yearSource})`),
    kind: "date",
    resolve: ({ first, last }) => ({ from: yearsOf(Number(first)).from, to: yearsOf(Number(last)).to }),
  },
  {
    pattern: words(`(?:(?<q>q[1-4])|(?<nth>first|second|third|fourth|1st|2nd|3rd|4th) quarter)(?: of)?,? (?<year>${yearSource})`),
    kind: "date",
    resolve: ({ q, nth, year }) => quarterOf(Number(year), q ? Number(q[1]) - 1 : ordinalIndex(nth!)),
  },
  {
    pattern: words(`(?<year>${yearSource})[ -]q(?<q>[1-4])`),
    kind: "date",
    resolve: ({ q, year }) => quarterOf(Number(year), Number(q) - 1),
  },
  {
    pattern: words(`(?:${part}[ -])?(?<month>${monthSource})(?: of|,)? (?<year>${yearSource})`),
    kind: "date",
    resolve: ({ part, month, year }) => partOf(monthsOf(Number(year), monthIndex(month!)), part),
  },
  {
    pattern: words(`${part}? ?(?:the )?(?<season>${seasonSource})(?: of|,)? (?<year>${yearSource})`),
    kind: "date",
    resolve: ({ part, season, year }) => partOf(monthsOf(Number(year), seasonStartMonth(season!), 3), part),
  },
  {
    pattern: words(`(?:the )?(?<step>last|this past|past|this|next|coming|previous) (?<season>${seasonSource})`),
    kind: "period",
    resolve: ({ step, season }, setting) => stepTo((year) => monthsOf(year, seasonStartMonth(season!), 3), step!, setting),
  },
  {
    pattern: words(
      `(?:in|during|since|until|by|before|after|from|of|around|throughout|back in|class of|year)(?: ${part}| the year)? (?<year>${yearSource})(?![-/.:,]?\\d| (?:dollars|people|miles|years|kilometers|steps|words|feet))`,
    ),
    kind: "date",
    resolve: ({ part, year }, setting) => partOf(plausibleYear(Number(year), setting), part),
  },
  {
    pattern: words(`(?:the )?(?:(?<century>1[89]|20)(?<full>\\d)0|['’]?(?<short>[6-9])0)['’]?s`),
    kind: "date",
    resolve: ({ century, full, short }) => {
      if (short !== undefined) return yearsOf(1900 + Number(short) * 10, 10);
      // "the 1900s" is mostly said of the century, "the 2000s" of the decade.
      return yearsOf(Number(`${century}${full}0`), full === "0" && century !== "20" ? 100 : 10);
    },
  },
  { pattern: words("(?:the )?day before yesterday"), kind: "relative", resolve: (_, { today }) => oneDay(today - 2) },
  { pattern: words("(?:the )?day after tomorrow"), kind: "relative", resolve: (_, { today }) => oneDay(today + 2) },
  { pattern: words("yesterday|last night"), kind: "relative", resolve: (_, { today }) => oneDay(today - 1) },
  { pattern: words("tomorrow"), kind: "relative", resolve: (_, { today }) => oneDay(today + 1) },
  {
    pattern: words("today|tonight|this (?:morning|afternoon|evening)|earlier today"),
    kind: "relative",
    resolve: (_, { today }) => oneDay(today),
  },
  {
    pattern: words("the other (?:day|night|evening)"),
    kind: "relative",
    resolve: (_, { today }) => ({ from: today - 7, to: today - 1 }),
  },
  {
    pattern: words(`${numberSource} (?:minute|hour)s? ago|just now`),
    kind: "relative",
    resolve: (_, { today }) => oneDay(today),
  },
  {
    pattern: words(`${amount} (?:more )?${unit} (?:ago|back)`),
    kind: "relative",
    resolve: ({ count, vague, unit }, setting) => daysAway(amountOf(count, vague), unit!, setting, -1),
  },
  {
    pattern: words(`${amount} ${unit} from (?:now|today)`),
    kind: "relative",
    resolve: ({ count, vague, unit }, setting) => daysAway(amountOf(count, vague), unit!, setting, 1),
  },
  {
    // "learned it in two weeks" tells how long it took, so only beside a future.
    pattern: words(`in (?:just |about |another )?${amount} ${unit}`),
    kind: "relative",
    resolve: ({ count, vague, unit }, setting) =>
      setting.tense === "past" ? undefined : daysAway(amountOf(count, vague), unit!, setting, 1),
  },
  {
    pattern: words(`(?:in |over |during |for |within )?(?:the |these )?(?:last|past) ${amount} ${unit}`),
    kind: "period",
    resolve: ({ count, vague, unit }, { today }) => ({ from: today - amountOf(count, vague).most * unitDays(unit!), to: today }),
  },
  {
    pattern: words(`(?:the )?(?<unit>week|weekend|month|year) (?<side>before last|after next)`),
    kind: "period",
    resolve: ({ unit, side }, setting) => periodAt(unit!, /before/i.test(side!) ? -2 : 2, setting),
  },
  {
    pattern: words("(?:over|on|during|at) the weekend"),
    kind: "period",
    resolve: (_, setting) => openWeekend(setting),
  },
  {
    pattern: words(`(?:the )?${step} weekend`),
    kind: "period",
    resolve: ({ step }, setting) => weekendAt(step!, setting),
  },
  {
    pattern: words(`(?:over |in |during )?(?:this past|the past|the last) (?<unit>week|month|year)(?! of)`),
    kind: "period",
    resolve: ({ unit }, { today }) => ({ from: today - unitDays(unit!), to: today }),
  },
  {
    pattern: words(`(?:(?:earlier|later) )?${step} (?<unit>week|month|quarter|year)`),
    kind: "period",
    resolve: ({ step, unit }, setting) => periodAt(unit!, offsetOf(step!), setting),
  },
  {
    pattern: words(
      `(?<!(?:every|each|any) )(?:on )?(?:${step} )?(?<weekday>${weekdaySource})(?: (?:morning|afternoon|evening|night))?(?! (?:and|through|to) ${weekdaySource})`,
    ),
    kind: "weekday",
    resolve: ({ step, weekday }, setting) => oneDay(weekdayAt(weekdayIndex(weekday!), step, setting)),
  },
  {
    pattern: words(`${part} (?<month>${monthSource})(?! ?\\d)`),
    kind: "date",
    yearIsImplied: true,
    resolve: ({ part, month }, setting) => partOf(monthAt(monthIndex(month!), "in", setting), part),
  },
  {
    pattern: words(
      `(?<lead>in|during|since|until|by|this past|last|next|this|of|around|throughout|back in|for)(?: ${part})? (?<month>${monthSource})(?! ?\\d|,? ${yearSource})`,
    ),
    kind: "date",
    yearIsImplied: true,
    resolve: ({ lead, part, month }, setting) => partOf(monthAt(monthIndex(month!), lead!, setting), part),
  },
  {
    pattern: words(`${part} (?<year>${yearSource})`),
    kind: "date",
    resolve: ({ part, year }, setting) => partOf(plausibleYear(Number(year), setting), part),
  },
  {
    // Only as a name: a month in lower case without a lead word is more often the verb or the modal.
    pattern: words("(?<month>January|February|April|June|July|August|September|October|November|December)(?! ?\\d)", "gu"),
    kind: "date",
    yearIsImplied: true,
    resolve: ({ month }, setting) => monthAt(monthIndex(month!), "in", setting),
  },
  {
    pattern: words(
      "(?<lead>on|at|for|around|since|last|this|next) (?<feast>christmas(?: (?:eve|day))?|halloween|valentine['’]s(?: day)?|new year['’]s(?: (?:eve|day))?)",
    ),
    kind: "date",
    yearIsImplied: true,
    resolve: ({ lead, feast }, setting) => feastAt(feast!, lead!, setting),
  },
];

function plausibleYear(year: number, { today }: Setting): DayRange | undefined {
  const distance = year - dateOf(today).year;
  return distance < -YEARS_BACK_MAX || distance > YEARS_AHEAD_MAX ? undefined : yearsOf(year);
}

const ordinals = ["first", "second", "third", "fourth"];

function quarterOf(year: number, quarter: number): DayRange {
  return monthsOf(year, 3 * quarter, 3);
}

/** 0 for "first" or "1st". */
function ordinalIndex(word: string): number {
  const index = ordinals.indexOf(word.toLowerCase());
  return index >= 0 ? index : Number(word[0]) - 1;
}
