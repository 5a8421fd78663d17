// Run after a change to any chart or value: writes the generated value files, then packs the charts that others depend on into
// their charts/ folders, so that Helm works from a clone without fetching anything. Needs helm on PATH or in .servers/helm.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parts } from "./values/parts.mjs";

const charts = dirname(fileURLToPath(import.meta.url));
const path = `${process.env.PATH}:${join(charts, "../../.servers/helm")}`;

run(process.execPath, [join(charts, "values/generate.mjs")]);
// The umbrella packs the parts with what is in their charts/ folders, so it comes last.
for (const chart of [...Object.keys(parts), "memory-bank"]) run("helm", ["dependency", "update", join(charts, chart)]);

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, PATH: path },
  });
  if (error) throw new Error(`${command} cannot be run (${error.code})`);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}
