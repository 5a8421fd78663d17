/**
 * Prints the bytes of `dot-kernel.wat` as base64: `node assemble-dot-kernel.ts`. Development only; the printed text is
 * committed in `dot-kernel-bytes.ts`, and a test holds the two together.
 */
import { readFile } from "node:fs/promises";
import wabt from "wabt";

export async function assembleDotKernel(): Promise<string> {
  const source = await readFile(new URL("./dot-kernel.wat", import.meta.url), "utf8");
  const parsed = (await wabt()).parseWat("dot-kernel.wat", source, { simd: true });
  try {
    return Buffer.from(parsed.toBinary({}).buffer).toString("base64");
  } finally {
    parsed.destroy();
  }
}

if (import.meta.main) console.log(await assembleDotKernel());
