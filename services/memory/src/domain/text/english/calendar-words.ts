/** Regular-expression sources and look-ups for English calendar words. Sources have no capturing groups. */

const monthNames = "january february march april may june july august september october november december".split(" ");
const weekdayNames = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const smallNumbers = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

export const monthSource =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b(?:\\.(?=\\s*\\d))?";
export const weekdaySource = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)day";
export const seasonSource = "(?:spring|summer|fall|autumn|winter)";
/** 1000 to 2999: a year when a word before it says so, never alone. */
export const yearSource = "[12]\\d{3}";
export const numberSource = `(?:\\d{1,4}|an?|${smallNumbers.slice(1).join("|")})`;

/** 0 = January. `name` may be shortened, in any case, with a period. */
export function monthIndex(name: string): number {
  return monthNames.findIndex((month) => month.startsWith(name.slice(0, 3).toLowerCase()));
}

/** 0 = Monday. */
export function weekdayIndex(name: string): number {
  return weekdayNames.findIndex((weekday) => weekday.startsWith(name.slice(0, 3).toLowerCase()));
}

/** First month of the meteorological season of the northern half, 0 = January; winter begins in December. */
export function seasonStartMonth(name: string): number {
  const lower = name.toLowerCase();
  if (lower === "spring") return 2;
  if (lower === "summer") return 5;
  return lower === "winter" ? 11 : 8;
}

export function numberOf(word: string): number {
  const lower = word.toLowerCase();
  if (lower === "a" || lower === "an") return 1;
  const small = smallNumbers.indexOf(lower);
  return small >= 0 ? small : Number(lower);
}
