import { spawn } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthService, createKeyString, openAuthStore } from "@memory-bank/auth";
import { createInProcessBus } from "@memory-bank/events";
import { createKeyVerifier } from "@memory-bank/gateway";
import { createResources } from "@memory-bank/lifecycle";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { createInProcessMesh } from "@memory-bank/rpc";
import { createMeter, silentLogger as log } from "@memory-bank/telemetry";
import autocannon from "autocannon";
import { median, type Row } from "./report.ts";

const rounds = 5;
export const keysSteps = 2 * (rounds + 1);
const verifications = 50_000;
const coldVerifications = 5_000;
const pepper = "a pepper of at least thirty-two characters";

/** What it costs to know who calls. */
export async function keysRows(progress: (what: string) => void): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "memory-bank-bench-"));
  try {
    return [...(await verificationRows(folder, progress)), ...(await requestRows(folder, progress))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Verifications of one key, remembered and not, against the cheapest check that there could be. */
async function verificationRows(folder: string, progress: (what: string) => void): Promise<Row[]> {
  await using resources = createResources();
  // A second has passed whenever a round wants it: what is remembered is then too old, and auth is asked.
  let skippedUs = 0;
  const nowUs = () => Date.now() * 1_000 + skippedUs;
  const newId = () => crypto.randomUUID();
  const bus = resources.use(createInProcessBus({ log }));
  const file = join(folder, "auth.sqlite");
  const store = resources.use(await openAuthStore({ kind: "sqlite", file }, { bus, log, nowUs, newId }));
  const mesh = createInProcessMesh({ log, nowMs: () => nowUs() / 1_000 });
  const verifier = resources.use(createKeyVerifier({ auth: mesh.client(AuthInternalServiceService), bus, nowUs, newId }));
  const auth = createAuthService({ store, peppers: { current: pepper }, log, nowUs, newId, meter: createMeter() });
  mesh.bind(auth);
  resources.defer(() => auth.stop());
  const made = await auth.ensureBootstrapKey({ createWhenMissing: true });
  await verifier.start();

  const remembered = () =>
    perSecond(verifications, async () => {
      await verifier.verify(made!.apiKey);
    });
  const cold = () =>
    perSecond(coldVerifications, async () => {
      skippedUs += 1_000_000;
      await verifier.verify(made!.apiKey);
    });
  const bare = bareCheck();
  const figures = { bare: [] as number[], remembered: [] as number[], cold: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const [plain, warm, asked] = [await perSecond(verifications, bare), await remembered(), await cold()];
    progress(`verifications of a key, round ${round}`);
    if (round === 0) continue; // warm-up
    figures.bare.push(plain);
    figures.remembered.push(warm);
    figures.cold.push(asked);
  }
  const ratio = (rates: readonly number[]) => median(rates.map((rate, i) => rate / figures.bare[i]!));
  const shown = (rates: readonly number[]) => `${(100 * ratio(rates)).toFixed(0)} % (${median(rates).toFixed(0)}/s)`;
  return [
    {
      what: "verification of a remembered key / bare HMAC and constant-time comparison",
      value: shown(figures.remembered),
      target: ">= 35 %",
      isMet: ratio(figures.remembered) >= 0.35,
    },
    {
      what: "verification of a key that auth must be asked for, in process / the same",
      value: shown(figures.cold),
      target: "",
      isMet: undefined,
    },
  ];
}

function bareCheck(): () => Promise<void> {
  const key = createKeyString();
  const digest = () => createHmac("sha256", pepper).update(key).digest();
  const known = new Map([[key, digest()]]);
  return async () => {
    if (!timingSafeEqual(digest(), known.get(key)!)) throw new Error("the same key must match");
  };
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < count; i++) await work();
  return count / ((performance.now() - started) / 1_000);
}

/** Requests through the gateway with a key, against the same route in the open. */
async function requestRows(folder: string, progress: (what: string) => void): Promise<Row[]> {
  const server = spawn(process.execPath, [new URL("./gateway-doors.ts", import.meta.url).pathname], {
    env: { PATH: process.env["PATH"], BENCH_FOLDER: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(server.stdout.setEncoding("utf8"), "data")) as [string];
  const { url, key } = JSON.parse(line) as { url: string; key: string };
  const requests = async (path: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const result = await autocannon({ url: url + path, headers, connections: 32, duration: 2 });
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${path}: ${result.non2xx} refusals, ${result.errors} errors`);
    return result.requests.average;
  };
  const ratios: number[] = [];
  const guardedRates: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const [guarded, open] = [await requests("/guarded"), await requests("/open")];
    progress(`requests with a key against requests without, round ${round}`);
    if (round === 0) continue; // warm-up
    ratios.push(guarded / open);
    guardedRates.push(guarded);
  }
  server.kill("SIGTERM");
  await once(server, "exit");
  return [
    {
      what: "authenticated requests through the gateway / the same route without a key",
      value: `${(100 * median(ratios)).toFixed(0)} % (${median(guardedRates).toFixed(0)} requests/s)`,
      target: ">= 60 %",
      isMet: median(ratios) >= 0.6,
    },
  ];
}
