import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { resolve } = createRequire(import.meta.url);
const entry = resolve("../../services/embedded/src/admin.ts");
/** Where starts of the service keep compiled modules, too. */
const compileCache = fileURLToPath(new URL("../../node_modules/.cache/memory-bank", import.meta.url));

export interface AdminRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the operator's command to its end, as a process of its own. */
export function runAdmin(args: readonly string[], env: Readonly<Record<string, string>>): Promise<AdminRun> {
  return new Promise((done) => {
    const inherited = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache };
    const options = { env: { ...inherited, EMBEDDINGS_PROVIDER: "lexical", ...env } };
    execFile(process.execPath, [entry, ...args], options, (error, stdout, stderr) => {
      done({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
    });
  });
}
