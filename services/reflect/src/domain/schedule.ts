import { CronExpressionParser } from "cron-parser";

const FIELDS = 5; // minutes are the finest step; a sixth field would mean seconds

/** When a cron expression is next due after an instant, both in microseconds, in UTC; `undefined` when it is no such expression. */
export function nextTickUs(cron: string, afterUs: number): number | undefined {
  if (cron.trim().split(/\s+/).length !== FIELDS) return undefined;
  try {
    const next = CronExpressionParser.parse(cron, { tz: "UTC", currentDate: new Date(Math.floor(afterUs / 1_000)) }).next();
    return next.getTime() * 1_000;
  } catch {
    return undefined; // the parser tells what it cannot read, and what never comes (30 February), by throwing
  }
}
