import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findServer, type ServerKind, type ServerSource } from "./find-server.ts";

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  /** What it really is, for the report of a run. */
  readonly description: string;
}

export interface ServerOptions {
  /** A port of its own, so that a server that was stopped can come back where it was; any free one unless given. */
  readonly port?: number;
  /** A folder that outlives the server; one that is removed with it unless given. */
  readonly dataDir?: string;
}

type Program = Extract<ServerSource, { kind: "program" }>;

const START_TIMEOUT_MS = 30_000; // a Java process on a machine that is busy with other suites
const STOP_TIMEOUT_MS = 5_000; // then it is killed: nothing that a test server holds is worth more
const POLL_MS = 20;

/** Starts the server that `findServer` found, or answers the one that runs already. Throws when there is none. */
export async function startServer(kind: ServerKind, options: ServerOptions = {}): Promise<RunningServer> {
  const source = findServer(kind);
  if (source.kind === "none") throw new Error(`${kind}: ${source.reason}`);
  if (source.kind === "running") {
    return { url: source.url, description: `${kind} given by its URL`, [Symbol.asyncDispose]: async () => undefined };
  }
  const port = options.port ?? (await freePort());
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), `test-${kind.toLowerCase()}-`));
  const [command, args, env] = commandLines[kind](source, port, dataDir);
  // A pipe on standard input, whose end tells the stand-ins that the tests are gone.
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => output.push(text));
  try {
    await listening(child, port, () => output.join(""));
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    url: `${schemes[kind]}://127.0.0.1:${port}`,
    description: source.isStandIn ? `a stand-in for ${kind}` : `${kind} (${command})`,
    async [Symbol.asyncDispose]() {
      await stop(child);
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const schemes: Readonly<Record<ServerKind, string>> = { MongoDB: "mongodb", Qdrant: "http", NATS: "nats" };

type CommandLine = readonly [command: string, args: string[], env?: Readonly<Record<string, string>>];

const commandLines: Readonly<Record<ServerKind, (program: Program, port: number, dataDir: string) => CommandLine>> = {
  NATS: ({ command }, port, dataDir) => [command, ["-a", "127.0.0.1", "-p", `${port}`, "-js", "-sd", dataDir]],
  MongoDB: ({ command, isStandIn }, port, dataDir) => {
    if (!isStandIn) return [command, ["--dbpath", dataDir, "--port", `${port}`, "--bind_ip", "127.0.0.1"]];
    const folder = dirname(dirname(command));
    const classPath = `${join(folder, "classes")}:${join(folder, "lib", "*")}`;
    return ["java", ["-XX:TieredStopAtLevel=1", "-cp", classPath, "Launcher", `${port}`, join(dataDir, "mongodb.h2")]];
  },
  Qdrant: ({ command, isStandIn }, port, dataDir) => {
    if (isStandIn) return [join(dirname(command), "venv", "bin", "python"), [command, `${port}`]];
    const env = {
      QDRANT__SERVICE__HOST: "127.0.0.1",
      QDRANT__SERVICE__HTTP_PORT: `${port}`,
      QDRANT__SERVICE__GRPC_PORT: "0",
      QDRANT__STORAGE__STORAGE_PATH: join(dataDir, "storage"),
    };
    return [command, [], env];
  },
};

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("a TCP server has an address with a port");
  return address.port;
}

async function listening(child: ChildProcess, port: number, output: () => string): Promise<void> {
  const failed = new Promise<never>((_, reject) => {
    child.once("error", (error) => reject(new Error("the server cannot be run", { cause: error })));
    child.once("exit", (code) => reject(new Error(`the server ended at its start (${code}):\n${output()}`)));
  });
  failed.catch(() => undefined);
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await Promise.race([accepts(port), failed]))) {
    if (performance.now() > deadline) throw new Error(`the server does not listen after ${START_TIMEOUT_MS} ms:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin?.end();
  child.kill("SIGTERM");
  const kill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(kill);
}
