import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKeyString } from "@memory-bank/auth";
import { freePort, type RunningServer, startServer } from "@memory-bank/test-servers/start-server";

const parts = ["auth", "bank", "memory", "reflect", "webhook", "gateway"] as const;
type Part = (typeof parts)[number];

/** Six processes over NATS, MongoDB and Qdrant. */
export interface RunningCluster {
  readonly url: string;
  readonly ownerKey: string;
  /** gRPC of a part; the gateway serves none. */
  addressOf(part: Part): string;
  /** What the servers are, for the report of the run. */
  readonly servers: readonly string[];
  /** SIGTERM to all at once; answers the exit codes. */
  stop(): Promise<Readonly<Record<Part, number | null>>>;
  output(): string;
}

const startMsMax = 120_000; // six processes load at once, on two processors that others use
const pollMs = 50;

/** Starts the servers that can be had, and then every part with nothing but its configuration. */
export async function startCluster(env: Readonly<Record<string, string>> = {}): Promise<RunningCluster> {
  const servers = await Promise.all((["NATS", "MongoDB", "Qdrant"] as const).map((kind) => startServer(kind)));
  const [nats, mongodb, qdrant] = servers as [RunningServer, RunningServer, RunningServer];
  const dataDir = mkdtempSync(join(tmpdir(), "memory-bank-cluster-"));
  const ownerKey = createKeyString();
  const ports = Object.fromEntries(await Promise.all(parts.map(async (part) => [part, await freePort()]))) as Record<
    Part,
    number
  >;
  const addressOf = (part: Part) => `127.0.0.1:${ports[part]}`;
  const shared = {
    PATH: process.env["PATH"],
    DATA_DIR: dataDir,
    ...{ NATS_URL: nats.url, MONGODB_URL: mongodb.url, QDRANT_URL: qdrant.url },
    MONGODB_DATABASE_PREFIX: `test-${crypto.randomUUID().slice(0, 8)}-`,
    RPC_SERVICE_TOKEN: crypto.randomUUID(),
    ...Object.fromEntries(parts.map((part) => [`${part.toUpperCase()}_RPC_ADDRESS`, addressOf(part)])),
  };
  const own: Readonly<Record<Part, Readonly<Record<string, string>>>> = {
    auth: { AUTH_BOOTSTRAP_KEY: ownerKey, AUTH_KEY_PEPPER: crypto.randomUUID() },
    bank: {},
    memory: {},
    reflect: {},
    webhook: { WEBHOOK_ENCRYPTION_KEY: "5a".repeat(32) },
    gateway: { GATEWAY_LISTEN_PORT: String(ports.gateway) },
  };
  const processes = parts.map((part) => {
    const listen = part === "gateway" ? {} : { RPC_LISTEN_PORT: String(ports[part]) };
    return startPart(part, { ...shared, ...listen, ...own[part], ...env });
  });
  const output = () => processes.map(({ part, written }) => `--- ${part}\n${written()}`).join("\n");

  async function stop(): Promise<Record<Part, number | null>> {
    const codes = await Promise.all(processes.map(async ({ part, child }) => [part, await ended(child)] as const));
    for (const server of servers) await server[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
    return Object.fromEntries(codes) as Record<Part, number | null>;
  }

  try {
    await Promise.all(processes.map(({ part, child }) => untilReady(child, ports[part] + 1_000, output)));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ ownerKey, addressOf, stop, output },
    url: `http://127.0.0.1:${ports.gateway}`,
    servers: servers.map(({ description }) => description),
  };
}

function startPart(part: Part, env: Readonly<Record<string, string | undefined>>) {
  const folder = part === "gateway" ? "gateway" : `services/${part}`;
  const entry = fileURLToPath(new URL(`../../${folder}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [entry], { env, stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => lines.push(text));
  return { part, child, written: () => lines.join("") };
}

async function untilReady(child: ChildProcess, probePort: number, output: () => string): Promise<void> {
  const deadline = performance.now() + startMsMax;
  while (!(await isReady(probePort))) {
    if (child.exitCode !== null) throw new Error(`a part ended at its start:\n${output()}`);
    if (performance.now() > deadline) throw new Error(`a part is not ready after ${startMsMax} ms:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok;
  } catch {
    return false; // nobody listens yet
  }
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = (await exit) as [number | null];
  return code;
}
