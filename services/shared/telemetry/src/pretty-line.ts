const STANDARD_MEMBERS = new Set(["level", "time", "msg", "err"]);

/** One JSON log line as a line for a person: time, level, message, members; the stack of an error below it. */
export function prettyLine(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const members = Object.entries(entry)
    .filter(([name]) => !STANDARD_MEMBERS.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === "string" && !/\s/.test(value) ? value : JSON.stringify(value)}`);
  const time = String(entry["time"]).slice(11, 23); // hours to milliseconds; the date is on the person's wall
  const level = String(entry["level"]).toUpperCase().padEnd(5);
  return `${time} ${level} ${String(entry["msg"])}${members.join("")}${errorText(entry["err"])}\n`;
}

function errorText(error: unknown): string {
  if (error === undefined) return "";
  const { stack, message } = (typeof error === "object" && error !== null ? error : { message: error }) as Record<
    string,
    unknown
  >;
  return `\n  ${String(stack ?? message).replaceAll("\n", "\n  ")}`;
}
