import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024; // the whole mesh renders to about a tenth of a MiB

export const chartsFolder = `${root}deploy/helm`;
export const partNames = ["auth", "bank", "gateway", "memory", "reflect", "webhook"] as const;
export type PartName = (typeof partNames)[number];
export const portOf: Readonly<Record<PartName, number>> = {
  gateway: 8888,
  auth: 50_052,
  bank: 50_053,
  memory: 50_054,
  reflect: 50_055,
  webhook: 50_056,
};
/** Who calls whom, as `design.md` has it: towards auth, and bank's fences the other way. */
export const callsOf: Readonly<Record<PartName, readonly PartName[]>> = {
  gateway: ["auth", "bank", "memory", "reflect", "webhook"],
  auth: [],
  bank: ["auth", "memory", "reflect", "webhook"],
  memory: ["auth", "bank"],
  reflect: ["auth", "bank", "memory"],
  webhook: ["auth", "bank"],
};

/** A Kubernetes object as it was rendered; only what the tests look at is named. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: a rendered object has the shape of its kind, which the assertions spell out
  readonly [member: string]: any;
}

/** Helm of PATH, or the one that test/servers/install-helm.mjs put into .servers/. */
export const helm: string | undefined = ["helm", `${root}.servers/helm/helm`].find(
  (command) => (command === "helm" || existsSync(command)) && spawnSync(command, ["version"]).status === 0,
);
if (helm === undefined) {
  console.log("Charts are not tested: there is no helm. Install one, or run `node test/servers/install-helm.mjs` (needs Go).");
}

export function runHelm(args: readonly string[]): {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
} {
  const { status, stdout, stderr } = spawnSync(helm ?? "helm", args, { encoding: "utf8", maxBuffer: OUTPUT_BYTES_MAX });
  return { status, output: stdout, errors: stderr };
}

export interface Rendering {
  readonly release?: string;
  readonly namespace?: string;
  /** Names of files in deploy/helm/examples, without the ending. */
  readonly examples?: readonly string[];
  /** Arguments for `--set-json`, such as `auth.replicas=3`. */
  readonly set?: readonly string[];
}

export function templateArgs(
  chart: string,
  { release = "memory-bank", namespace = "mesh", examples = [], set = [] }: Rendering,
): string[] {
  return [
    ...["template", release, `${chartsFolder}/${chart}`, "--namespace", namespace],
    ...examples.flatMap((name) => ["--values", `${chartsFolder}/examples/${name}.yaml`]),
    ...set.flatMap((value) => ["--set-json", value]),
  ];
}

/** Everything that the chart renders to. Throws what Helm complained about. */
export function render(chart: string, rendering: Rendering = {}): readonly KubeObject[] {
  const { status, output, errors } = runHelm(templateArgs(chart, rendering));
  if (status !== 0) throw new Error(errors);
  return parseAllDocuments(output)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
}

/** What Helm says when it refuses to render; an empty text when it does not refuse. */
export function refusalOf(chart: string, rendering: Rendering): string {
  const { status, errors } = runHelm(templateArgs(chart, rendering));
  return status === 0 ? "" : errors;
}

/** The one object of that kind and name. Throws when there is none or several. */
export function only(objects: readonly KubeObject[], kind: string, name: string): KubeObject {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects ${kind}/${name}`);
  return found[0]!;
}

export function ofKind(objects: readonly KubeObject[], kind: string): readonly KubeObject[] {
  return objects.filter((object) => object.kind === kind);
}
