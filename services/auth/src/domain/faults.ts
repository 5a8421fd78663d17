import { AppError, type FieldViolation } from "@memory-bank/errors";

/** Gathers what is wrong with the members of one request, so that the caller hears of everything at once. */
export interface Faults {
  add(fault: FieldViolation): void;
  /** Throws `invalid_argument` with every fault gathered; returns when there is none. */
  throwAny(): void;
}

export function createFaults(): Faults {
  const violations: FieldViolation[] = [];
  return {
    add: (fault) => violations.push(fault),
    throwAny() {
      if (violations.length > 0)
        throw new AppError("invalid_argument", "INVALID_REQUEST", "The request is not valid", { violations });
    },
  };
}

type Location = readonly (string | number)[];

export const missing = (location: Location): FieldViolation => ({
  location,
  type: "missing",
  message: "Field required",
  input: null,
});

export const tooSmall = (location: Location, input: number, ge: number): FieldViolation => ({
  location,
  type: "greater_than_equal",
  message: `Input should be greater than or equal to ${ge}`,
  input,
  context: { ge },
});

export const tooLarge = (location: Location, input: number, le: number): FieldViolation => ({
  location,
  type: "less_than_equal",
  message: `Input should be less than or equal to ${le}`,
  input,
  context: { le },
});

export const emptyList = (location: Location): FieldViolation => ({
  location,
  type: "too_short",
  message: "List should have at least 1 item after validation, not 0",
  input: [],
  context: { field_type: "List", min_length: 1, actual_length: 0 },
});

export const tooLongList = (location: Location, input: readonly unknown[], max: number): FieldViolation => ({
  location,
  type: "too_long",
  message: `List should have at most ${max} items after validation, not ${input.length}`,
  input,
  context: { field_type: "List", max_length: max, actual_length: input.length },
});

export const notOneOf = (location: Location, input: string, values: readonly string[]): FieldViolation => {
  const quoted = values.map((value) => `'${value}'`);
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}` : quoted.join("");
  return { location, type: "literal_error", message: `Input should be ${expected}`, input, context: { expected } };
};

export const wrongPattern = (location: Location, input: string, pattern: string): FieldViolation => ({
  location,
  type: "string_pattern_mismatch",
  message: `String should match pattern '${pattern}'`,
  input,
  context: { pattern },
});

export const wrongValue = (location: Location, input: unknown, text: string): FieldViolation => ({
  location,
  type: "value_error",
  message: `Value error, ${text}`,
  input,
  context: { error: {} },
});

/** Checks a text of 1 to `max` characters, counted as code points. */
export function lengthFault(location: Location, input: string, max: number): FieldViolation | undefined {
  if (input.length === 0) {
    const message = "String should have at least 1 character";
    return { location, type: "string_too_short", message, input, context: { min_length: 1 } };
  }
  // Counting is only needed between the two certain cases, since a code point is one or two units.
  if (input.length <= max || (input.length <= max * 2 && [...input].length <= max)) return undefined;
  const message = `String should have at most ${max} characters`;
  return { location, type: "string_too_long", message, input, context: { max_length: max } };
}
