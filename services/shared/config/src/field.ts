import type { TSchema } from "typebox";
import { Type } from "typebox";
import { Check, Errors } from "typebox/value";

/** One setting: the environment variable that holds it, how its text is read, and what it may be. */
export interface Field<T> {
  readonly type: "field";
  readonly name: string;
  readonly description: string;
  /** Its value is never printed, and may come from a file that `<NAME>_FILE` names. */
  readonly isSecret: boolean;
  /** What an absent setting becomes; without it the setting must be there. */
  readonly fallback?: { readonly value: T };
  /** Reads the text; throws an `Error` whose message goes after the setting's name. */
  readonly parse: (text: string) => T;
}

/** With a `default` or `optional: true` (then the value may be `undefined`) the setting may be absent. */
export interface FieldOptions<T> {
  readonly description: string;
  readonly default?: T;
  readonly optional?: boolean;
}

interface TextOptions extends FieldOptions<string> {
  /** A regular expression for the whole value. */
  readonly pattern?: string;
  readonly minLength?: number;
}
interface IntOptions extends FieldOptions<number> {
  readonly min: number;
  readonly max: number;
}
interface ListOptions extends FieldOptions<readonly string[]> {
  readonly maxItems?: number;
}
interface EnumOptions<V extends string> extends FieldOptions<V> {
  readonly values: readonly V[];
}
type ValueOf<T, O> = O extends { readonly optional: true } ? T | undefined : T;

const LIST_ITEMS_MAX = 1_000; // far above any list that a person maintains in an environment variable

/** Text as it stands. */
export function string<const O extends TextOptions>(name: string, options: O): Field<ValueOf<string, O>> {
  return field(name, options, false, textSchema(options), (text) => text);
}

/** Text that is never printed. `<NAME>_FILE` may name a file that holds it; a line break at its end is dropped. */
export function secret<const O extends TextOptions>(name: string, options: O): Field<ValueOf<string, O>> {
  return field(name, options, true, textSchema(options), (text) => text);
}

/** A decimal integer from `min` to `max`, both included. */
export function int<const O extends IntOptions>(name: string, options: O): Field<ValueOf<number, O>> {
  const schema = Type.Integer({ minimum: options.min, maximum: options.max });
  return field(name, options, false, schema, (text) => (/^[+-]?\d+$/.test(text) ? Number(text) : text));
}

/** `true` or `false`; also `1`, `0`, `yes`, `no`, `on`, `off`, in any case. */
export function bool<const O extends FieldOptions<boolean>>(name: string, options: O): Field<ValueOf<boolean, O>> {
  const words: Record<string, boolean> = {
    true: true,
    1: true,
    yes: true,
    on: true,
    false: false,
    0: false,
    no: false,
    off: false,
  };
  return field(name, options, false, Type.Boolean(), (text) => words[text.toLowerCase()] ?? text);
}

/** One word out of `values`. */
export function oneOf<const V extends string, const O extends EnumOptions<V>>(
  name: string,
  options: O,
): Field<ValueOf<O["values"][number], O>> {
  const schema = Type.Enum([...options.values]);
  return field(name, options, false, schema, (text) => text);
}

/** Items between commas; spaces around them and empty ones are dropped. */
export function list<const O extends ListOptions>(name: string, options: O): Field<ValueOf<readonly string[], O>> {
  const schema = Type.Array(Type.String(), { maxItems: options.maxItems ?? LIST_ITEMS_MAX });
  return field(name, options, false, schema, (text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  );
}

function textSchema(options: TextOptions): TSchema {
  return Type.String({
    ...(options.pattern === undefined ? {} : { pattern: `^(?:${options.pattern})$` }),
    ...(options.minLength === undefined ? {} : { minLength: options.minLength }),
  });
}

function field<T>(
  name: string,
  options: FieldOptions<unknown>,
  isSecret: boolean,
  schema: TSchema,
  read: (text: string) => unknown,
): Field<T> {
  const parse = (text: string): T => {
    const value = read(text);
    if (!Check(schema, value)) throw new Error(faultOf(schema, value));
    return value as T; // the schema and `T` are chosen together by the functions above
  };
  const mayBeAbsent = options.optional === true || options.default !== undefined;
  return {
    type: "field",
    name,
    description: options.description,
    isSecret,
    ...(mayBeAbsent ? { fallback: { value: options.default as T } } : {}),
    parse,
  };
}

function faultOf(schema: TSchema, value: unknown): string {
  if ("enum" in schema && Array.isArray(schema.enum)) return `must be one of ${schema.enum.join(", ")}`;
  return Errors(schema, value)[0]?.message ?? "has a wrong form";
}
