import { AppError } from "@memory-bank/errors";
import type { JsonObject, JsonValue } from "./json.ts";

/** One audited call, redacted and bounded by its recorder. */
export interface AuditEntry {
  /** Chosen by the recorder; an entry that comes again is recognised by it. */
  readonly id: string;
  readonly tenantId: string;
  readonly bankId: string | null;
  readonly action: string;
  readonly transport: string;
  readonly startedAtUs: number;
  readonly endedAtUs: number;
  readonly request: JsonObject | null;
  readonly response: JsonValue;
  readonly metadata: JsonObject;
}

/** Where an entry is kept: with an incarnation of a bank and dying with it, or (`null`) with the tenant. */
export interface FiledAuditEntry extends AuditEntry {
  readonly bankUid: string | null;
}

/** Buckets of equal length; the last one holds the present. */
export interface AuditPeriod {
  readonly period: string;
  readonly trunc: "hour" | "day";
  readonly startUs: number;
  readonly bucketUs: number;
  readonly bucketCount: number;
}

export interface AuditBucket {
  readonly timeUs: number;
  readonly actions: Readonly<Record<string, number>>;
  readonly total: number;
}

/** One action's entries in one bucket of a period. */
export interface AuditCount {
  /** From 0, the oldest. */
  readonly bucket: number;
  readonly action: string;
  readonly count: number;
}

/** The action whose entry outlives the bank that it is about. */
export const DELETE_BANK_ACTION = "delete_bank";

const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;

const periods = {
  "1d": { trunc: "hour", bucketUs: HOUR_US, bucketCount: 24 },
  "7d": { trunc: "day", bucketUs: DAY_US, bucketCount: 7 },
  "30d": { trunc: "day", bucketUs: DAY_US, bucketCount: 30 },
} as const;

/** The buckets (of UTC hours or days) that end with the present one. */
export function auditPeriod(period: string, nowUs: number): AuditPeriod {
  if (!Object.hasOwn(periods, period)) {
    const words = Object.keys(periods).join(", ");
    throw new AppError("invalid_argument", "INVALID_PERIOD", `period must be one of ${words}`);
  }
  const chosen = periods[period as keyof typeof periods];
  const presentUs = Math.floor(nowUs / chosen.bucketUs) * chosen.bucketUs;
  return { period, ...chosen, startUs: presentUs - (chosen.bucketCount - 1) * chosen.bucketUs };
}

/** Every bucket of the period, oldest first, those without entries too. */
export function fillBuckets(period: AuditPeriod, counts: readonly AuditCount[]): readonly AuditBucket[] {
  return Array.from({ length: period.bucketCount }, (_, index) => {
    const own = counts.filter(({ bucket }) => bucket === index);
    return {
      timeUs: period.startUs + index * period.bucketUs,
      actions: Object.fromEntries(own.map(({ action, count }) => [action, count])),
      total: own.reduce((sum, { count }) => sum + count, 0),
    };
  });
}
