import { readFileSync } from "node:fs";
import { authConfig } from "@memory-bank/auth";
import { bankConfig } from "@memory-bank/bank";
import { type ConfigSchema, fieldsOf } from "@memory-bank/config";
import { memoryConfig } from "@memory-bank/memory";
import { webhookConfig } from "@memory-bank/webhook";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { callsOf, chartsFolder, helm, only, type PartName, partNames, portOf, render } from "./helm.ts";

const schemas: Readonly<Partial<Record<PartName, ConfigSchema>>> = {
  auth: authConfig,
  bank: bankConfig,
  memory: memoryConfig,
  webhook: webhookConfig,
};
/** Names that belong to every process, or to the shared packages. */
const shared =
  /^(RPC_|GATEWAY_|LLM_|EMBEDDINGS_|OPENAI_|OTEL_|LOG_LEVEL$|MONGODB_URL$|NATS_URL$|QDRANT_|BANK_CONFIG_FILE$)|_RPC_ADDRESS$/;

/** The names among `given` that no setting of the part has. */
function unknownTo(part: PartName, given: readonly string[]): readonly string[] {
  const known = new Set(fieldsOf(schemas[part] ?? {}).map(({ name }) => name));
  return given.filter((name) => !shared.test(name) && !known.has(name.replace(/_FILE$/, "")));
}

interface ComposeService {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

describe.skipIf(helm === undefined)("settings of the charts", () => {
  const mesh = helm === undefined ? [] : render("memory-bank");

  test.each(partNames)("%s reads every setting and secret that its chart sets", (part) => {
    const settings = Object.keys(only(mesh, "ConfigMap", `memory-bank-${part}`)["data"]);
    const { env } = only(mesh, "Deployment", `memory-bank-${part}`)["spec"].template.spec.containers[0];
    expect(unknownTo(part, [...settings, ...env.map(({ name }: { name: string }) => name)])).toEqual([]);
  });
});

describe("compose.yaml", () => {
  const compose: { readonly services: Readonly<Record<string, ComposeService>> } = parse(
    readFileSync(`${chartsFolder}/../compose.yaml`, "utf8"),
    { merge: true },
  );
  const serviceOf = (name: string): ComposeService => compose.services[name]!;

  test("holds the three servers, the six parts and a migration of each store", () => {
    const migrations = partNames.filter((part) => part !== "gateway").map((part) => `${part}-migration`);
    expect(Object.keys(compose.services).sort()).toEqual(
      [...partNames, ...migrations, "mongodb", "nats", "qdrant", "secrets"].sort(),
    );
  });

  test.each(partNames)("%s runs its root, hardened, and is asked whether it is ready", (part) => {
    const { command, read_only, cap_drop, healthcheck } = serviceOf(part);
    expect({ command, read_only, cap_drop }).toEqual({ command: [part], read_only: true, cap_drop: ["ALL"] });
    const port = part === "gateway" ? 8888 : portOf[part] + 1_000;
    expect(healthcheck?.test.at(-1)).toContain(`http://127.0.0.1:${port}/health/ready`);
  });

  test.each(partNames)("%s is given the addresses of those that it calls, and settings that it reads", (part) => {
    const environment = serviceOf(part).environment ?? {};
    for (const peer of callsOf[part]) {
      expect(environment[`${peer.toUpperCase()}_RPC_ADDRESS`]).toBe(`dns:///${peer}:${portOf[peer]}`);
    }
    expect(unknownTo(part, Object.keys(environment))).toEqual([]);
  });

  test("each store is migrated before its part starts, and nothing but REST leaves the machine's own network", () => {
    for (const part of partNames.filter((name) => name !== "gateway")) {
      expect(serviceOf(part).depends_on).toEqual({ [`${part}-migration`]: { condition: "service_completed_successfully" } });
      expect(serviceOf(`${part}-migration`).command).toEqual([part, "migrate"]);
    }
    const open = Object.entries(compose.services).filter(([, { ports }]) => ports);
    expect(open.map(([name, { ports }]) => [name, ports])).toEqual([["gateway", [`127.0.0.1:\${PORT:-8888}:8888`]]]);
  });

  test("no secret stands in the file: the mesh makes its own", () => {
    const names = Object.values(compose.services).flatMap(({ environment = {} }) => Object.keys(environment));
    const secrets = names.filter((name) => /TOKEN|PEPPER|ENCRYPTION_KEY|BOOTSTRAP_KEY/.test(name));
    expect(secrets.length).toBeGreaterThan(10);
    expect(secrets.filter((name) => !name.endsWith("_FILE"))).toEqual([]);
  });
});
