import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyString } from "@memory-bank/auth";

/** A started Memory Bank, as a process of its own. */
export interface RunningService {
  readonly url: string;
  readonly rpcAddress: string;
  readonly ownerKey: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** What it wrote to both outputs so far. */
  output(): string;
  /** SIGTERM and waiting for the end; answers the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL and waiting for the end. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** An existing folder to go on with; a fresh one, removed at `stop`, unless given. */
  readonly dataDir?: string;
  readonly ownerKey?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const entry = createRequire(import.meta.url).resolve("../../services/embedded/src/start.mjs");
/** A start answers within 2 s on a quiet machine; tests share theirs with others. */
const startMsMax = 60_000;

/** Starts embedded mode on free ports. */
export async function startProcess(options: StartOptions = {}): Promise<RunningService> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "memory-bank-"));
  const ownerKey = options.ownerKey ?? createKeyString();
  const child = spawn(process.execPath, [entry], {
    env: {
      PATH: process.env["PATH"],
      DATA_DIR: dataDir,
      AUTH_BOOTSTRAP_KEY: ownerKey,
      GATEWAY_LISTEN_PORT: "0",
      RPC_LISTEN_PORT: "0",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let written = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  const exited = once(child, "exit");
  const [, url, rpcPort] = await waitForWelcome(child, () => written);
  return {
    url: url!,
    rpcAddress: `127.0.0.1:${rpcPort}`,
    ownerKey,
    dataDir,
    process: child,
    output: () => written,
    async stop() {
      child.kill("SIGTERM");
      const [code] = (await exited) as [number | null];
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
      return code;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const welcome = /listens on (http:\S+) {2}\(gRPC on port (\d+)/;

async function waitForWelcome(child: ChildProcess, written: () => string): Promise<RegExpExecArray> {
  const deadline = AbortSignal.timeout(startMsMax);
  for (;;) {
    const match = welcome.exec(written());
    if (match) return match;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the service ended at its start:\n${written()}`);
    if (deadline.aborted) throw new Error(`the service did not start in ${startMsMax} ms:\n${written()}`);
    await Promise.race([once(child.stdout!, "data"), once(child, "exit"), once(deadline, "abort")]);
  }
}
