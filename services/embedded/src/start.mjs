// Entry of the product. Plain JavaScript, because an older Node cannot read the rest and should say so.
import module from "node:module";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(`Memory Bank runs on Node 24 or later; this is ${process.versions.node}. Start it with: npx -y pnpm@12 start`);
  process.exit(1);
}
// Keeps compiled modules from start to start; where the folder cannot be written, nothing is kept.
module.enableCompileCache(new URL("../../../node_modules/.cache/memory-bank", import.meta.url).pathname);
await import("./main.ts");
