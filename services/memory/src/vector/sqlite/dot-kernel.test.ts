import { describe, expect, test } from "vitest";
import { assembleDotKernel } from "./assemble-dot-kernel.ts";
import { createPlainKernel, createSimdKernel, type DotKernel, ROW_STEP } from "./dot-kernel.ts";
import { dotKernelBytes } from "./dot-kernel-bytes.ts";

test("the committed bytes are what the source assembles to", async () => {
  expect(await assembleDotKernel()).toBe(dotKernelBytes);
});

describe("both kernels", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);

  test.each([ROW_STEP, 48, 512, 1536])(`agree on rows of %i numbers (seed ${seed})`, (width) => {
    const rows = 9;
    const numbers = Float32Array.from({ length: (rows + 1) * width }, (_, i) => Math.sin(seed + i * 1.7) / Math.sqrt(width));
    const run = (kernel: DotKernel): number[] => {
      kernel.grow(numbers.length + rows + 1);
      kernel.floats().set(numbers);
      kernel.dots(0, width, rows, width, numbers.length);
      return [...kernel.floats().subarray(numbers.length, numbers.length + rows + 1)];
    };
    const [simd, plain] = [run(createSimdKernel()), run(createPlainKernel())];
    for (let row = 0; row < rows; row++) {
      let exact = 0;
      for (let i = 0; i < width; i++) exact += numbers[i]! * numbers[(row + 1) * width + i]!;
      expect(simd[row]).toBeCloseTo(exact, 5);
      expect(plain[row]).toBeCloseTo(exact, 5);
    }
    expect(simd[rows], "nothing is written beyond the last row").toBe(0);
    expect(plain[rows]).toBe(0);
  });

  test.each([
    ["simd", createSimdKernel],
    ["plain", createPlainKernel],
  ])("%s keeps its numbers when it grows", (_, create) => {
    const kernel = create();
    kernel.grow(100);
    kernel.floats().set([1, 2, 3], 97);
    kernel.grow(5_000_000);
    expect(kernel.floats().length).toBeGreaterThanOrEqual(5_000_000);
    expect([...kernel.floats().subarray(97, 101)]).toEqual([1, 2, 3, 0]);
  });
});
