import { AppError } from "@memory-bank/errors";

const EVENT_TYPES_MAX = 100; // a handful exists; more are only names that never fire
const EVENT_TYPE_LENGTH_MAX = 255;

/** The list without repetitions; unknown names are kept, for they may come to exist. Throws `invalid_argument`. */
export function checkedEventTypes(eventTypes: readonly string[]): readonly string[] {
  const unique = [...new Set(eventTypes)];
  if (unique.length > EVENT_TYPES_MAX) throw refused(`at most ${EVENT_TYPES_MAX} event types can be listed`);
  if (unique.some((type) => type === "" || type.length > EVENT_TYPE_LENGTH_MAX)) {
    throw refused(`an event type has 1 to ${EVENT_TYPE_LENGTH_MAX} characters`);
  }
  return unique;
}

const refused = (text: string) => new AppError("invalid_argument", "EVENT_TYPES_REFUSED", `Invalid event_types: ${text}`);
