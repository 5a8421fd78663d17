/**
 * Prints a kernel's bytes as base64: `node assemble-kernel.ts matrix-kernel.wat`. Development only; the printed text is
 * committed in `matrix-kernel.ts`, and a test holds the two together.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

/** The binary form of WebAssembly text, base64. */
export async function assembleKernel(source: URL): Promise<string> {
  const assembler = await wabt();
  const parsed = assembler.parseWat(fileURLToPath(source), await readFile(source, "utf8"), { simd: true, relaxed_simd: true });
  try {
    return Buffer.from(parsed.toBinary({}).buffer).toString("base64");
  } finally {
    parsed.destroy();
  }
}

if (import.meta.main) console.log(await assembleKernel(new URL(process.argv[2]!, import.meta.url)));
