import { expect, test } from "vitest";
import { createVectorCache } from "./vector-cache.ts";

test("forgets the text that was not used for longest", () => {
  const cache = createVectorCache(2);
  cache.set("a", Float32Array.of(1));
  cache.set("b", Float32Array.of(2));
  cache.get("a");
  cache.set("c", Float32Array.of(3));
  expect(cache.get("a")).toEqual(Float32Array.of(1));
  expect(cache.get("b")).toBeUndefined();
  expect(cache.get("c")).toEqual(Float32Array.of(3));
});

test("does not remember a long text", () => {
  const cache = createVectorCache(2);
  cache.set("x".repeat(3000), Float32Array.of(1));
  expect(cache.get("x".repeat(3000))).toBeUndefined();
});
