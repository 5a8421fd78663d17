import { describe, expect, expectTypeOf, test } from "vitest";
import {
  convert,
  jsonObject,
  jsonValue,
  list,
  listOrString,
  map,
  model,
  nullable,
  optional,
  refine,
  union,
} from "./containers.ts";
import { bool, int, literal, str } from "./scalars.ts";
import { named, type Output, ruleOf, type Schema } from "./schema.ts";
import { invalid, startWalk } from "./walk.ts";

function read<T>(schema: Schema<T>, input: unknown) {
  const walk = startWalk();
  walk.path.push("body");
  const value = ruleOf(schema).read(walk, input);
  const faults = walk.faults.map(({ type, location }) => `${type} ${location.join(".")}`);
  expect(value === invalid).toBe(faults.length > 0);
  return { value, faults, ignored: walk.ignored, walk };
}

describe("model", () => {
  const schema = model({
    name: str(),
    size: optional(int(), 7),
    note: optional(str()),
    secret: optional(nullable(str())),
    trigger: optional(model({ mode: optional(literal(["full", "delta"]), "full") })),
  });

  test("infers what it reads", () => {
    expectTypeOf<Output<typeof schema>>().toEqualTypeOf<{
      readonly name: string;
      readonly size: number;
      readonly note: string | undefined;
      readonly secret: string | null | undefined;
      readonly trigger: { readonly mode: "full" | "delta" } | undefined;
    }>();
  });

  test("takes null for absent, except where null is a value", () => {
    expect(read(schema, { name: "a" }).value).toEqual({ name: "a", size: 7 });
    const nulls = { name: "a", size: null, note: null, secret: null, trigger: null };
    expect(read(schema, nulls).value).toEqual({ name: "a", size: 7, secret: null });
    expect(read(schema, { name: "a", trigger: {} }).value).toEqual({ name: "a", size: 7, trigger: { mode: "full" } });
    expect(read(schema, { name: null }).faults).toEqual(["string_type body.name"]);
  });

  test("reports all faults in the order of declaration and echoes the object that lacks a member", () => {
    const input = { trigger: { mode: "x" }, size: "many" };
    const { faults, walk } = read(schema, input);
    expect(faults).toEqual(["missing body.name", "int_parsing body.size", "literal_error body.trigger.mode"]);
    expect(walk.faults[0]?.input).toBe(input);
  });

  test("notes what it does not know, once and with its place", () => {
    const nested = model({ items: list(model({ a: int() })) });
    const { ignored, faults } = read(nested, {
      items: [
        { a: 1, b: 1 },
        { a: 1, b: 2 },
      ],
      constructor: 1,
      toString: 2,
    });
    expect(faults).toEqual([]);
    expect(ignored).toEqual(["items.b", "constructor", "toString"]);
  });

  test("does not mistake what an object inherits for what it holds", () => {
    expect(read(model({ toString: optional(str()) }), {}).value).toEqual({ toString: undefined });
    expect(read(model({ name: str() }), JSON.parse('{"__proto__":{"name":"x"}}')).faults).toEqual(["missing body.name"]);
  });

  test.each([[[]], ["x"], [null], [1]])("refuses %j", (input) => {
    expect(read(schema, input).faults).toEqual(["model_attributes_type body"]);
  });
});

describe("list", () => {
  test("reports every item, and its length only when the items are fine", () => {
    const schema = list(int(), { minItems: 2, maxItems: 3 });
    expect(read(schema, ["1", 2]).value).toEqual([1, 2]);
    expect(read(schema, ["x", "y"]).faults).toEqual(["int_parsing body.0", "int_parsing body.1"]);
    expect(read(schema, [1]).walk.faults).toEqual([
      {
        type: "too_short",
        location: ["body"],
        message: "List should have at least 2 items after validation, not 1",
        input: [1],
        context: { field_type: "List", min_length: 2, actual_length: 1 },
      },
    ]);
    expect(read(schema, ["x", 1, 2, 3]).walk.faults[0]?.message).toBe("List should have at most 3 items after validation, not 4");
    expect(read(schema, {}).faults).toEqual(["list_type body"]);
  });

  test.each([
    ["a", ["a"]],
    ["", [""]],
    ['["a","b"]', ["a", "b"]],
    [' [ "a" ]', ["a"]],
    ["[draft] plan", ["[draft] plan"]],
    [["a"], ["a"]],
  ])("of strings may come as the string %j", (input, expected) => {
    expect(read(listOrString(str()), input).value).toEqual(expected);
  });

  test("that comes as a string is checked like any other", () => {
    expect(read(listOrString(str()), '["a",1]').faults).toEqual(["string_type body.1"]);
    expect(read(listOrString(str()), 5).faults).toEqual(["list_type body"]);
  });
});

describe("maps and free JSON", () => {
  test("keep any name and clean all text", () => {
    const input = JSON.parse('{"__proto__":"a\\u0000","b\\u0000":"\\ud800"}');
    expect(Object.entries(read(map(str()), input).value)).toEqual([
      ["__proto__", "a"],
      ["b", "\ufffd"],
    ]);
    const free = JSON.parse('{"__proto__":{"x":["a\\u0000",1,null,true]}}');
    const { value } = read(jsonObject(), free);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":["a",1,null,true]}}');
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test("refuse what they are not, and numbers that overflow", () => {
    expect(read(map(str()), { a: 1, b: null }).faults).toEqual(["string_type body.a", "string_type body.b"]);
    expect(read(map(str()), []).faults).toEqual(["dict_type body"]);
    expect(read(jsonObject(), [1]).faults).toEqual(["dict_type body"]);
    expect(read(jsonObject(), JSON.parse('{"a":[1,1e999]}')).faults).toEqual(["finite_number body.a.1"]);
    expect(read(optional(jsonValue()), null).value).toBeNull();
  });
});

describe("union", () => {
  const scopes = union({ "literal['per_tag','shared']": literal(["per_tag", "shared"]), "list[list[str]]": list(list(str())) });

  test("takes the first branch that fits and forgets the faults of the others", () => {
    expect(read(scopes, "shared")).toMatchObject({ value: "shared", faults: [] });
    expect(read(scopes, [["a"], []])).toMatchObject({ value: [["a"], []], faults: [] });
  });

  test("reports every branch below its name when none fits", () => {
    const first = "literal_error body.literal['per_tag','shared']";
    expect(read(scopes, "x").faults).toEqual([first, "list_type body.list[list[str]]"]);
    expect(read(scopes, [["a"], "b"]).faults).toEqual([first, "list_type body.list[list[str]].1"]);
  });

  test("can refer to itself", () => {
    type Group = { readonly tags: string[] } | { readonly not: Group };
    const group: Schema<Group> = named("Group", () => union({ Leaf: model({ tags: list(str()) }), Not: model({ not: group }) }));
    expect(read(group, { not: { not: { tags: ["a"] } } })).toMatchObject({
      value: { not: { not: { tags: ["a"] } } },
      ignored: [],
    });
    expect(read(group, { not: { x: 1 } }).faults).toEqual([
      "missing body.Leaf.tags",
      "missing body.Not.not.Leaf.tags",
      "missing body.Not.not.Not.not",
    ]);
  });
});

describe("rules of meaning", () => {
  test("are asked only when the type is right", () => {
    const schema = refine(model({ a: optional(int()), b: optional(bool()) }), ({ a, b }) =>
      a !== undefined && b !== undefined ? "a and b are mutually exclusive" : undefined,
    );
    expect(read(schema, { a: "x", b: true }).faults).toEqual(["int_parsing body.a"]);
    expect(read(schema, { a: 1 }).value).toEqual({ a: 1 });
    expect(read(schema, { a: 1, b: true }).walk.faults).toEqual([
      {
        type: "value_error",
        location: ["body"],
        message: "Value error, a and b are mutually exclusive",
        input: { a: 1, b: true },
        context: { error: {} },
      },
    ]);
  });

  test("may change the value", () => {
    const even = convert(int(), (value, refuse) => (value % 2 === 0 ? value / 2 : refuse("must be even")));
    expect(read(model({ n: optional(even) }), { n: "4" }).value).toEqual({ n: 2 });
    expect(read(model({ n: optional(even) }), { n: null }).value).toEqual({ n: undefined });
    expect(read(model({ n: even }), { n: 3 }).faults).toEqual(["value_error body.n"]);
    expect(() => convert(optional(int()), () => 1)).toThrow("cannot be converted");
  });
});
