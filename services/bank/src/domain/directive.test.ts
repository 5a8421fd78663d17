import { expect, test } from "vitest";
import { changeDirective, newDirective } from "./directive.ts";

const ids = { id: "d1", bankUid: "u1" };
const members = { name: "Language", content: "Answer in German.", priority: 0, isActive: true, tags: [] as string[] };

test("repeated tags are kept once, in the order given", () => {
  expect(newDirective(ids, { ...members, tags: ["b", "a", "b"] }, 5).tags).toEqual(["b", "a"]);
});

test.each([
  [{ name: " " }, ["body", "name"], "name must not be blank"],
  [{ content: "\n" }, ["body", "content"], "content must not be blank"],
  [{ name: "x".repeat(256) }, ["body", "name"], "name must have at most 255 characters"],
  [{ tags: ["a", "x".repeat(256)] }, ["body", "tags", 1], "a tag must have at most 255 characters"],
  [{ priority: 2 ** 31 }, ["body", "priority"], "priority must be a 32-bit integer"],
  [{ priority: 0.5 }, ["body", "priority"], "priority must be a 32-bit integer"],
])("%j is refused when it is made and when it is changed", (change, location, text) => {
  const fault = expect.objectContaining({
    code: "invalid_argument",
    violations: [expect.objectContaining({ type: "value_error", location, message: `Value error, ${text}` })],
  });
  const directive = newDirective(ids, members, 5);
  expect(() => newDirective(ids, { ...members, ...change }, 5)).toThrow(fault);
  expect(() => changeDirective(directive, change, 6)).toThrow(fault);
});

test("priorities may be any 32-bit integer", () => {
  for (const priority of [-(2 ** 31), 2 ** 31 - 1])
    expect(newDirective(ids, { ...members, priority }, 5).priority).toBe(priority);
});

test("absent members stay, an empty tag list clears, and even nothing moves the time", () => {
  const directive = newDirective(ids, { ...members, tags: ["a"] }, 5);
  expect(changeDirective(directive, {}, 6)).toEqual({ ...directive, updatedAtUs: 6 });
  expect(changeDirective(directive, { tags: [], isActive: false, priority: -3 }, 7)).toEqual({
    ...directive,
    tags: [],
    isActive: false,
    priority: -3,
    updatedAtUs: 7,
  });
});
