/** An instant in integer microseconds since 1970, or why there is none. `date`: the text is no date; `range`: no such year. */
export type DateTimeText = { readonly us: number } | { readonly fault: "date" | "range"; readonly error: string };

const DAY_MS = 86_400_000;
// Seconds up to this number, milliseconds above it: the year 2603 as seconds, August 1970 as milliseconds.
const UNIX_SECONDS_MAX = 2e10;
const FIRST_MS = Date.UTC(2000, 0, 1) - 730_119 * DAY_MS; // 0001-01-01T00:00:00Z
const YEAR_ZERO_MS = FIRST_MS - 366 * DAY_MS;
const END_MS = Date.UTC(10_000, 0, 1); // the first instant of the year 10000
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Instants are numbers in JavaScript, exact to the microsecond from June 1684 to June 2255. What lies beyond is cut to
 * these edges where a range is meant (`dateTime`), and must be refused where it would be stored.
 */
export const INSTANT_US_MAX = Number.MAX_SAFE_INTEGER;
export const INSTANT_US_MIN = Number.MIN_SAFE_INTEGER;

const timeForm = /^(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+\-\u2212])(\d\d):?(\d\d))?$/;
const unixForm = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;

/** Reads ISO 8601 (date only = midnight, no offset = UTC, fractions cut after six digits) or Unix time in decimal digits. */
export function parseDateTime(text: string): DateTimeText {
  const date = parseDate(text);
  if ("us" in date) {
    if (text.length === DATE_LENGTH) return checkedRange(date.us);
    const timeUs = parseTime(text.slice(DATE_LENGTH));
    if (timeUs !== undefined) return checkedRange(date.us, timeUs);
    return { fault: "date", error: "unexpected extra characters at the end of the input" };
  }
  if (!unixForm.test(text) || !fitsInteger(text)) return date;
  const instant = fromUnixTime(Number(text));
  return "us" in instant || instant === yearZero ? instant : dateFault(instant.error);
}

/** Unix seconds or, above `UNIX_SECONDS_MAX`, milliseconds. */
export function fromUnixTime(value: number): DateTimeText {
  if (Number.isNaN(value)) return { fault: "range", error: "NaN values not permitted" };
  const ms = Math.abs(value) > UNIX_SECONDS_MAX ? value : value * 1000;
  if (ms >= END_MS) return { fault: "range", error: "dates after 9999 are not supported as unix timestamps" };
  if (ms < YEAR_ZERO_MS) {
    return { fault: "range", error: "dates before 0000 are not supported as unix timestamps" };
  }
  if (ms < FIRST_MS) return yearZero;
  // The fraction is rounded apart from the whole part, which alone uses up most of the digits of a double.
  const unitUs = Math.abs(value) > UNIX_SECONDS_MAX ? 1000 : 1_000_000;
  const whole = Math.floor(value);
  return { us: whole * unitUs + Math.round((value - whole) * unitUs) };
}

/** Cuts an instant to what a number holds exactly. No stored instant lies beyond, so a range keeps its meaning. */
export function clampInstant(us: number): number {
  return Math.min(Math.max(us, INSTANT_US_MIN), INSTANT_US_MAX);
}

const DATE_LENGTH = "yyyy-mm-dd".length;
const yearZero = { fault: "range", error: "year 0 is out of range" } as const;

/** Midnight of the date at the start of the text; what follows it is not looked at. */
function parseDate(text: string): DateTimeText {
  // Counted in bytes by the published behaviour: a text in another script is not "too short" but has a wrong year.
  if (text.length < DATE_LENGTH && Buffer.byteLength(text) < DATE_LENGTH) return dateFault("input is too short");
  const year = digits(text, 0, 4);
  if (year === undefined) return dateFault("invalid character in year");
  if (text[4] !== "-") return dateFault("invalid date separator, expected `-`");
  const month = digits(text, 5, 7);
  if (month === undefined) return dateFault("invalid character in month");
  if (text[7] !== "-") return dateFault("invalid date separator, expected `-`");
  const day = digits(text, 8, DATE_LENGTH);
  if (day === undefined) return dateFault("invalid character in day");
  if (month < 1 || month > 12) return dateFault("month value is outside expected range of 1-12");
  if (day < 1 || day > daysInMonth(year, month)) return dateFault("day value is outside expected range");
  // The year is moved by whole 400-year cycles, because Date.UTC reads the years 0 to 99 as 1900 to 1999.
  return { us: (Date.UTC(year + 2000, month - 1, day) - 5 * 146_097 * DAY_MS) * 1000 };
}

function dateFault(error: string): DateTimeText {
  return { fault: "date", error };
}

/** The separator and everything behind it, as microseconds to add to midnight; `undefined` when it is malformed. */
function parseTime(text: string): number | undefined {
  if (!/^[Tt _]/.test(text)) return undefined;
  const match = timeForm.exec(text.slice(1));
  if (!match) return undefined;
  const [, hour = "", minute = "", second = "0", fraction = "", , sign, offsetHour = "0", offsetMinute = "0"] = match;
  const isInRange = +hour < 24 && +minute < 60 && +second < 60 && +offsetHour < 24 && +offsetMinute < 60;
  if (!isInRange) return undefined;
  const localSeconds = +hour * 3600 + +minute * 60 + +second;
  const offsetSeconds = (+offsetHour * 3600 + +offsetMinute * 60) * (sign === undefined || sign === "+" ? 1 : -1);
  return (localSeconds - offsetSeconds) * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}

/** The year as written must be at least 1; an offset may then push the instant a day over either edge. */
function checkedRange(midnightUs: number, timeUs = 0): DateTimeText {
  return midnightUs < FIRST_MS * 1000 ? yearZero : { us: midnightUs + timeUs };
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function digits(text: string, start: number, end: number): number | undefined {
  const part = text.slice(start, end);
  return /^\d+$/.test(part) && part.length === end - start ? Number(part) : undefined;
}

function fitsInteger(text: string): boolean {
  if (text.includes(".")) return true;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value <= INT64_MAX && value >= -INT64_MAX - 1n;
}
