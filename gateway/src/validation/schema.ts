import { type TSchema, type TUnsafe, Type } from "typebox";
import type { Invalid, Walk } from "./walk.ts";

/**
 * A TypeBox schema that can also read a value: the JSON schema goes into the OpenAPI document, the rule coerces what a
 * caller sent and reports its faults. One object for both, so that the document cannot say something else than the code does.
 */
export type Schema<T> = TUnsafe<T> & { readonly [ruleKey]: Rule<T> };

/** The type of the value that a schema reads. */
export type Output<S> = S extends Schema<infer T> ? T : never;

export interface Rule<T> {
  /** Answers the coerced value, or `invalid` after it has put at least one fault into the walk. */
  readonly read: (walk: Walk, input: unknown) => T | Invalid;
  /** Present when the member may be absent: the value that stands for it. */
  readonly whenAbsent?: () => T;
  /** True when null is a value of its own; otherwise a null for a member that may be absent counts as absent. */
  readonly acceptsNull?: boolean;
  /** True when a query parameter of this schema may be repeated. */
  readonly isList?: boolean;
}

/** The name under which a schema stands in the components of the OpenAPI document; `resolve` breaks recursion. */
export interface Component {
  readonly name: string;
  readonly resolve: () => TSchema;
}

const ruleKey: unique symbol = Symbol("rule");
const componentKey: unique symbol = Symbol("component");

export function makeSchema<T>(json: TSchema, rule: Rule<T>): Schema<T> {
  return Object.assign(Type.Unsafe<T>({ ...json }), { [ruleKey]: rule });
}

export function ruleOf<T>(schema: Schema<T>): Rule<T> {
  return schema[ruleKey];
}

/**
 * Lets a schema refer to itself: `resolve` is called at the first use. Only `named` schemas can be recursive, since the
 * OpenAPI document needs something to refer to.
 */
export function named<T>(name: string, resolve: () => Schema<T>): Schema<T> {
  let resolved: Rule<T> | undefined;
  const read: Rule<T>["read"] = (walk, input) => {
    resolved ??= ruleOf(resolve());
    return resolved.read(walk, input);
  };
  return Object.assign(makeSchema<T>({}, { read }), { [componentKey]: { name, resolve } });
}

/** Gives a response schema its own name in the OpenAPI document. The schema itself stays complete and usable. */
export function component<S extends TSchema>(name: string, schema: S): S {
  return Object.assign({ ...schema }, { [componentKey]: { name, resolve: () => schema } });
}

export function componentOf(schema: object): Component | undefined {
  return (schema as { [componentKey]?: Component })[componentKey];
}
