import { isTerminal, type JobStatus, type JsonObject, type JsonValue } from "./job.ts";

/** How many children have each status; absent means none. */
export type ChildCounts = Readonly<Partial<Record<JobStatus, number>>>;

/** The status of a parent by its children's. One that was `processing` stays so while any child is unfinished. */
export function parentStatus(counts: ChildCounts, current: JobStatus): JobStatus {
  const count = (status: JobStatus): number => counts[status] ?? 0;
  const hasStarted = current === "processing" || count("processing") + count("completed") + count("failed") > 0;
  if (count("pending") + count("processing") > 0) return hasStarted ? "processing" : "pending";
  if (count("failed") > 0) return "failed";
  return count("cancelled") > 0 && count("completed") === 0 ? "cancelled" : "completed";
}

/** Adds up results member by member: numbers are added, objects are added inside, everything else is left out. */
export function sumResults(results: readonly JsonObject[]): JsonObject {
  const sums: Record<string, JsonValue> = {};
  for (const [member, value] of results.flatMap((result) => Object.entries(result))) {
    const sum = sums[member];
    if (typeof value === "number") sums[member] = (typeof sum === "number" ? sum : 0) + value;
    else if (isObject(value)) sums[member] = sumResults([isObject(sum) ? sum : {}, value]);
  }
  return sums;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a parent's progress is called: its own end, or what the child that reported last is doing. */
export function parentStage(status: JobStatus, lastChildStage: string | null): string {
  return isTerminal(status) ? status : (lastChildStage ?? status);
}
