// Fails when proto/gen is not what the .proto files generate. Generates into a scratch folder and compares byte for byte.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = import.meta.dirname;
const scratch = mkdtempSync(join(tmpdir(), "proto-gen-"));
try {
  execFileSync("pnpm", ["exec", "buf", "lint"], { cwd: here, stdio: "inherit" });
  execFileSync("pnpm", ["exec", "buf", "generate", "--output", scratch], { cwd: here, stdio: "inherit" });
  const list = (dir) =>
    readdirSync(dir, { recursive: true })
      .filter((file) => String(file).endsWith(".ts"))
      .map(String)
      .sort();
  const [fresh, committed] = [list(join(scratch, "gen")), list(join(here, "gen"))];
  const stale = [...new Set([...fresh, ...committed])].filter(
    (file) =>
      !fresh.includes(file) ||
      !committed.includes(file) ||
      !readFileSync(join(scratch, "gen", file)).equals(readFileSync(join(here, "gen", file))),
  );
  if (stale.length > 0) {
    console.error(`proto/gen is stale, run "pnpm proto": ${stale.join(", ")}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
