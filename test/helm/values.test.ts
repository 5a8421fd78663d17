import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chartsFolder, helm, partNames, refusalOf, render, runHelm } from "./helm.ts";

const charts = [...partNames, "memory-bank"];
const examples = ["minimal", "production", "external-secrets"];

interface Schema {
  readonly description?: string;
  readonly additionalProperties?: boolean | object;
  readonly properties?: Readonly<Record<string, Schema>>;
}
const schemaOf = (chart: string): Schema => JSON.parse(readFileSync(`${chartsFolder}/${chart}/values.schema.json`, "utf8"));

/** Every described value below `schema`, with the path that leads to it. */
function entries(schema: Schema, path = ""): readonly (readonly [string, Schema])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const own = path === "" ? name : `${path}.${name}`;
    return [[own, member] as const, ...entries(member, own)];
  });
}

test("the value files say what their source says", () => {
  const { status, stderr } = spawnSync(process.execPath, [`${chartsFolder}/values/generate.mjs`, "--check"], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test.each(charts)("every value of %s is described, and no group takes unknown names", (chart) => {
  for (const [path, member] of entries(schemaOf(chart))) {
    expect(member.description, path).toMatch(/^.{8,}\.$/);
    const isPart = chart === "memory-bank" && (partNames as readonly string[]).includes(path);
    if (member.properties && !isPart) expect(member.additionalProperties, path).toBe(false);
  }
});

describe.skipIf(helm === undefined)("values of the charts", () => {
  const scratch = mkdtempSync(join(tmpdir(), "charts-"));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  test.each(charts)("%s passes the strict lint with its defaults", (chart) => {
    const { status, output, errors } = runHelm(["lint", "--strict", `${chartsFolder}/${chart}`]);
    expect(status, output + errors).toBe(0);
    expect(output).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  test.each(examples)("the umbrella passes the strict lint with examples/%s.yaml, and renders", (example) => {
    const { status, output, errors } = runHelm([
      ...["lint", "--strict", `${chartsFolder}/memory-bank`, "--values", `${chartsFolder}/examples/${example}.yaml`],
    ]);
    expect(status, output + errors).toBe(0);
    expect(render("memory-bank", { examples: [example] }).length).toBeGreaterThan(40);
  });

  // One unknown name in every group at once, each as a slip of the pen would put it: the schema names all of them.
  test.each(partNames)("an unknown name is refused in every group of %s", (chart) => {
    const groups = entries(schemaOf(chart)).filter(([, { additionalProperties }]) => additionalProperties === false);
    expect(groups.length).toBeGreaterThan(20);
    const paths = ["", ...groups.map(([path]) => path)];
    const refusal = refusalOf(chart, { set: paths.map((path) => `${path === "" ? "" : `${path}.`}unknownName=1`) });
    const refused = refusal.matchAll(/at '(.*)': additional properties 'unknownName' not allowed/g);
    expect([...refused].map(([, path]) => path).sort()).toEqual(
      paths.map((path) => (path === "" ? "" : `/${path.replaceAll(".", "/")}`)).sort(),
    );
  });

  test.each([
    "unknownName=1",
    "global.unknownName=1",
    "global.config.unknownName=1",
    "memory.unknownName=1",
    "memory.config.unknownName=1",
    "webhook.networkPolicy.receivers.unknownName=1",
  ])("the umbrella refuses %s", (value) => {
    expect(refusalOf("memory-bank", { set: [value] })).toContain("additional properties 'unknownName' not allowed");
  });

  test.each([
    "auth.replicas=0",
    "auth.replicas=2.5",
    'auth.replicas="2"',
    "auth.terminationGracePeriodSeconds=5",
    'auth.topologySpread.whenUnsatisfiable="Never"',
    'global.config.llmProvider="other"',
    'global.image.digest="sha256:12"',
    'global.image.repository=""',
    'global.meshName="Not A Name"',
    'global.telemetry.otlpEndpoint="collector:4318"',
    "global.telemetry.samplingRatio=2",
    "auth.podSecurity.runAsUser=0",
    'memory.config.qdrantUrl="qdrant:6333"',
    "webhook.networkPolicy.receivers.ports=[70000]",
    'gateway.service.type="ExternalName"',
  ])("the umbrella refuses %s", (value) => {
    expect(refusalOf("memory-bank", { set: [value] })).toContain("values don't meet the specifications");
  });

  test("the notes name the next command", () => {
    const umbrella = notesOf("memory-bank", "memory-bank");
    expect(umbrella).toContain("kubectl -n mesh wait deployment -l app.kubernetes.io/instance=memory-bank");
    expect(umbrella).toContain("port-forward service/memory-bank-gateway 8888:80");
    const auth = notesOf("auth", "memory-bank-auth");
    expect(auth).toContain("kubectl -n mesh rollout status deployment/memory-bank-auth");
    expect(auth).toContain("memory-bank/auth-key-pepper\n");
    expect(notesOf("auth", "memory-bank-auth", ["serviceMonitor.enabled=true"])).toContain("keeps Prometheus out");
  });

  /** Helm shows notes only after it has reached a cluster, so a copy of the chart renders them into an object. */
  function notesOf(chart: string, release: string, set: readonly string[] = []): string {
    const copy = join(mkdtempSync(join(scratch, "notes-")), chart);
    cpSync(`${chartsFolder}/${chart}`, copy, { recursive: true });
    renameSync(`${copy}/templates/NOTES.txt`, `${copy}/notes.txt`);
    writeFileSync(`${copy}/templates/notes.yaml`, 'notes: {{ tpl (.Files.Get "notes.txt") . | toJson }}\n');
    const values = set.flatMap((value) => ["--set-json", value]);
    const { output, errors } = runHelm([
      "template",
      release,
      copy,
      "--namespace",
      "mesh",
      "--show-only",
      "templates/notes.yaml",
      ...values,
    ]);
    expect(errors).toBe("");
    return parse(output).notes;
  }

  test("dependencies are local charts only, and what is packed in charts/ is what stands beside it", () => {
    for (const chart of charts) {
      const { dependencies } = parse(readFileSync(`${chartsFolder}/${chart}/Chart.yaml`, "utf8"));
      for (const { name, version, repository } of dependencies) {
        expect(repository).toBe(`file://../${name}`);
        expectPacked(`${chartsFolder}/${chart}/charts/${name}-${version}.tgz`, `${chartsFolder}/${name}`);
      }
      expect(readdirSync(`${chartsFolder}/${chart}/charts`)).toHaveLength(dependencies.length);
    }
  });

  /** Compares an archive with its source, file by file; `node deploy/helm/vendor.mjs` makes them equal. */
  function expectPacked(archive: string, source: string): void {
    const folder = mkdtempSync(join(scratch, "packed-"));
    expect(spawnSync("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]).status).toBe(0);
    const packed = filesOf(folder);
    const original = sourceFiles(source);
    expect([...packed.keys()].sort(), archive).toEqual([...original.keys()].sort());
    for (const [file, content] of packed) {
      // Helm writes the description of a chart anew when it packs it.
      const read = (text: string | undefined) => (file.endsWith("Chart.yaml") ? parse(text ?? "") : text);
      expect(read(content), `${archive}: ${file}`).toEqual(read(original.get(file)));
    }
  }
});

function filesOf(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")];
    }),
  );
}

/** The files of a chart as Helm packs them: the chart that it depends on is unpacked below charts/. */
function sourceFiles(chart: string): Map<string, string> {
  const files = filesOf(chart);
  for (const file of [...files.keys()].filter((name) => name.endsWith(".tgz"))) {
    files.delete(file);
    const name = file.replace(/^charts\/(.+)-\d+\.\d+\.\d+\.tgz$/, "$1");
    for (const [inner, content] of sourceFiles(join(chart, "..", name))) files.set(`charts/${name}/${inner}`, content);
  }
  return files;
}
