import { AppError } from "@memory-bank/errors";
import { dotKernelBytes } from "./dot-kernel-bytes.ts";

/** The kernel's inner loop takes this many numbers at once, so rows are padded with zeros to a multiple of it. */
export const ROW_STEP = 16;

/** A stretch of f32 numbers and dot products over it. Places are indexes of `floats`. */
export interface DotKernel {
  /** Another array after each `grow`: never keep it. */
  floats(): Float32Array;
  /** Makes room for at least this many numbers; what is there stays. Throws `resource_exhausted` when the system has no more. */
  grow(length: number): void;
  /** floats[out + i] = the vector at `a` times the i-th row from `rows` on, for `count` rows of `width` numbers (a multiple of `ROW_STEP`). */
  dots(a: number, rows: number, count: number, width: number, out: number): void;
}

/** The fastest kernel that this process can run. */
export function createDotKernel(): DotKernel {
  return typeof WebAssembly === "undefined" ? createPlainKernel() : createSimdKernel();
}

const WASM_PAGE_BYTES = 65_536;
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;
/** Growing is cheap but empties every array over the memory, so it is done in steps of 4 MiB. */
const GROW_PAGES = 64;

/** About four times as fast as the plain one. Its memory can grow to 4 GiB. */
export function createSimdKernel(): DotKernel {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const module = new WebAssembly.Module(Buffer.from(dotKernelBytes, "base64"));
  const instance = new WebAssembly.Instance(module, { vectors: { memory } });
  const dots = instance.exports["dots"] as DotKernel["dots"];
  let floats = new Float32Array(memory.buffer);
  return {
    floats: () => floats,
    grow(length) {
      const missing = Math.ceil(((length - floats.length) * FLOAT_BYTES) / WASM_PAGE_BYTES);
      if (missing <= 0) return;
      try {
        memory.grow(Math.ceil(missing / GROW_PAGES) * GROW_PAGES);
      } catch (error) {
        throw new AppError("resource_exhausted", "VECTOR_MEMORY_FULL", "No memory left for vectors", { cause: error });
      }
      floats = new Float32Array(memory.buffer);
    },
    // Byte addresses beyond 2 GiB wrap to negative numbers on their way in, and the kernel reads them as unsigned.
    dots: (a, rows, count, width, out) => dots(a * FLOAT_BYTES, rows * FLOAT_BYTES, count, width, out * FLOAT_BYTES),
  };
}

/** For a process without WebAssembly (`node --jitless`). */
export function createPlainKernel(): DotKernel {
  let floats = new Float32Array(0);
  return {
    floats: () => floats,
    grow(length) {
      if (length <= floats.length) return;
      const longer = new Float32Array(Math.max(length, 2 * floats.length));
      longer.set(floats);
      floats = longer;
    },
    dots(a, rows, count, width, out) {
      for (let row = 0; row < count; row++) {
        const start = rows + row * width;
        let s0 = 0;
        let s1 = 0;
        let s2 = 0;
        let s3 = 0;
        for (let i = 0; i < width; i += 4) {
          s0 += floats[a + i]! * floats[start + i]!;
          s1 += floats[a + i + 1]! * floats[start + i + 1]!;
          s2 += floats[a + i + 2]! * floats[start + i + 2]!;
          s3 += floats[a + i + 3]! * floats[start + i + 3]!;
        }
        floats[out + row] = s0 + s1 + (s2 + s3);
      }
    },
  };
}
