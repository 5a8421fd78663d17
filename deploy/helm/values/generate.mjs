// Writes values.yaml and values.schema.json of every chart. With --check it writes nothing and fails when a file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parts } from "./parts.mjs";
import { globalValues, partValues } from "./shared-values.mjs";
import { flag, group, renderSchema, renderValues, subchart } from "./value-tree.mjs";

const charts = dirname(dirname(fileURLToPath(import.meta.url)));
const origin = "Generated from deploy/helm/values by `node deploy/helm/values/generate.mjs`.";

const umbrellaValues = {
  global: group("What all parts of one mesh agree on.", globalValues),
  ...Object.fromEntries(
    Object.keys(parts).map((name) => [
      name,
      subchart(`Values of the chart ${name}; \`helm show values deploy/helm/${name}\` describes them all.`, {
        enabled: flag("Whether this part is installed.", true),
      }),
    ]),
  ),
};

const files = [
  ...Object.entries(parts).flatMap(([name, part]) => filesOf(name, `${part.summary}.`, partValues(part))),
  ...filesOf("memory-bank", "The whole mesh: gateway and five services.", umbrellaValues),
];
const stale = files.filter(({ path, content }) => readOrEmpty(path) !== content);
if (process.argv.includes("--check")) {
  for (const { path } of stale) console.error(`${path} is stale: run node deploy/helm/values/generate.mjs`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const { path, content } of stale) writeFileSync(path, content);
  console.log(`${files.length} files, ${stale.length} of them written`);
}

function filesOf(chart, summary, members) {
  return [
    { path: join(charts, chart, "values.yaml"), content: renderValues(`${summary} ${origin}`, members) },
    { path: join(charts, chart, "values.schema.json"), content: renderSchema(`Values of the chart ${chart}`, members) },
  ];
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
}
