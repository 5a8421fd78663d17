import { readFileSync } from "node:fs";
import { AppError } from "@memory-bank/errors";
import type { Field } from "./field.ts";

/** Settings by the member they become. Nested schemas become nested objects, so a root composes those of its services. */
export interface ConfigSchema {
  readonly [member: string]: Field<unknown> | Variants<string, Readonly<Record<string, ConfigSchema>>> | ConfigSchema;
}

/** A setting that decides which others there are: it becomes `{ kind, ...settings of that kind }`. */
export interface Variants<K extends string, V extends Readonly<Record<K, ConfigSchema>>> {
  readonly type: "variants";
  readonly kind: Field<K>;
  readonly options: V;
}

/** What loading a schema gives. */
export type Config<S> =
  S extends Field<infer T>
    ? T
    : S extends Variants<infer K, infer V>
      ? { readonly [P in K]: { readonly kind: P } & Config<V[P]> }[K]
      : { readonly [P in keyof S]: Config<S[P]> };

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadedConfig<S> {
  /** Deeply frozen. */
  readonly config: Config<S>;
  /** One sentence for each variable that looks like ours and is not. */
  readonly warnings: readonly string[];
}

/** Alternatives as a tagged union; only the settings of the chosen one are read, the others' names are known all the same. */
export function variants<const K extends string, V extends Readonly<Record<K, ConfigSchema>>>(
  kind: Field<K>,
  options: V,
): Variants<K, V> {
  return { type: "variants", kind, options };
}

/**
 * Reads the settings of `schema` from `env`; an empty variable counts as absent. Throws one `invalid_argument`, reason
 * `INVALID_CONFIG`, that lists every problem by name; values are not repeated in it.
 */
export function loadConfig<const S extends ConfigSchema>(schema: S, env: Environment): LoadedConfig<S> {
  const problems: string[] = [];
  const config = readSchema(schema, env, problems);
  if (problems.length > 0) {
    const unique = [...new Set(problems)];
    throw new AppError("invalid_argument", "INVALID_CONFIG", `Configuration: ${unique.join("; ")}`, {
      details: { problems: unique },
    });
  }
  return { config: config as Config<S>, warnings: unknownNames(schema, env) };
}

function readSchema(schema: ConfigSchema, env: Environment, problems: string[]): Readonly<Record<string, unknown>> {
  const entries = Object.entries(schema).map(([member, part]) => {
    if (isField(part)) return [member, readField(part, env, problems)];
    if (isVariants(part)) return [member, readVariants(part, env, problems)];
    return [member, readSchema(part, env, problems)];
  });
  return Object.freeze(Object.fromEntries(entries));
}

function readVariants(part: AnyVariants, env: Environment, problems: string[]): unknown {
  const kind = readField(part.kind, env, problems);
  const chosen = part.options[String(kind)];
  return chosen && Object.freeze({ kind, ...readSchema(chosen, env, problems) });
}

function readField(field: Field<unknown>, env: Environment, problems: string[]): unknown {
  try {
    const text = textOf(field, env);
    if (text !== undefined) return freezeList(field.parse(text));
    if (field.fallback) return freezeList(field.fallback.value);
    throw new Error("is required");
  } catch (error) {
    problems.push(`${field.name} ${(error as Error).message}`);
    return undefined;
  }
}

function textOf(field: Field<unknown>, env: Environment): string | undefined {
  const text = env[field.name] || undefined;
  const file = field.isSecret ? env[`${field.name}_FILE`] || undefined : undefined;
  if (file === undefined) return text;
  if (text !== undefined) throw new Error(`and ${field.name}_FILE are both set; keep one`);
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "") || undefined;
  } catch (error) {
    throw new Error(`cannot be read from its file (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
}

function freezeList(value: unknown): unknown {
  return Array.isArray(value) ? Object.freeze([...value]) : value;
}

const OUR_PREFIXES = /^(AUTH|BANK|MEMORY|REFLECT|WEBHOOK|GATEWAY|RPC|EMBEDDED|LLM|EMBEDDINGS)_/;
// Kubernetes describes each service of the namespace to every container by such names, and a service may be called "bank".
const INJECTED_NAMES = /_SERVICE_HOST$|_SERVICE_PORT(_.+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const INJECTED_VALUES = /^(tcp|udp|sctp):\/\//;

function unknownNames(schema: ConfigSchema, env: Environment): readonly string[] {
  const known = new Set(
    fieldsOf(schema).flatMap((field) => (field.isSecret ? [field.name, `${field.name}_FILE`] : [field.name])),
  );
  return Object.entries(env)
    .filter(([name, value]) => OUR_PREFIXES.test(name) && !known.has(name) && !isInjected(name, value ?? ""))
    .map(([name]) => `${name} is not a setting of this program and has no effect`)
    .sort();
}

function isInjected(name: string, value: string): boolean {
  return INJECTED_NAMES.test(name) || (name.endsWith("_PORT") && INJECTED_VALUES.test(value));
}

/** Every setting of a schema, those of alternatives too, in the order in which they are declared. */
export function fieldsOf(schema: ConfigSchema): readonly Field<unknown>[] {
  return Object.values(schema).flatMap((part) => {
    if (isField(part)) return [part];
    if (isVariants(part)) return [part.kind, ...Object.values(part.options).flatMap(fieldsOf)];
    return fieldsOf(part);
  });
}

type AnyVariants = Variants<string, Readonly<Record<string, ConfigSchema>>>;
type Part = ConfigSchema[string];

// A schema with a setting called `type` has an object there, never one of these two words.
export function isField(part: Part): part is Field<unknown> {
  return (part.type as unknown) === "field";
}
export function isVariants(part: Part): part is AnyVariants {
  return (part.type as unknown) === "variants";
}
