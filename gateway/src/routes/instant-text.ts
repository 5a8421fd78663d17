import { AppError } from "@memory-bank/errors";
import { convert } from "../validation/containers.ts";
import { clampInstant, INSTANT_US_MAX, INSTANT_US_MIN, parseDateTime } from "../validation/date-time-text.ts";
import { str } from "../validation/scalars.ts";
import type { Schema } from "../validation/schema.ts";

/** An instant as the API shows it: UTC, six fractional digits and `Z`. Microseconds since 1970, years 1684 to 2255. */
export function instantText(us: number): string {
  const second = Math.floor(us / 1_000_000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastSecondText = new Date(second * 1000).toISOString().slice(0, -4);
  }
  return `${lastSecondText}${String(us - second * 1_000_000).padStart(6, "0")}Z`;
}

/** The instants of one answer mostly lie close together, and a date is the slow part of the text. */
let lastSecond = 0;
let lastSecondText = "1970-01-01T00:00:00.";

export function instantTextOrNull(us: number | undefined): string | null {
  return us === undefined ? null : instantText(us);
}

export const outOfRange = "timestamp is outside the supported range";

/** True for an instant that can be stored: one that a number holds exactly, to the microsecond. */
export function isStorable(us: number): boolean {
  return us >= INSTANT_US_MIN && us <= INSTANT_US_MAX;
}

/** An instant that a caller wants to be stored. Unlike `dateTime`, which is for bounds, it refuses what cannot be kept exactly. */
export function storedInstant(): Schema<number> {
  return convert(str(), (text, refuse) => {
    const parsed = parseDateTime(text);
    if (!("us" in parsed)) return refuse(`Invalid datetime: '${text}'`);
    return isStorable(parsed.us) ? parsed.us : refuse(outOfRange);
  });
}

/** The point in time that a request is asked from; empty text means now. A bad one is a fault of meaning: 400. */
export function referenceInstant(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const parsed = parseDateTime(text.trim());
  if ("us" in parsed) return clampInstant(parsed.us);
  throw new AppError("invalid_argument", "INVALID_DATETIME", `Invalid ${name}: '${text}' is not a valid datetime`);
}
