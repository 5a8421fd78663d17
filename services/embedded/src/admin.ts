import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { loadConfig, secret, string } from "@memory-bank/config";
import { systemContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import { createClock } from "@memory-bank/lifecycle";
import { embedderConfigOf, embeddingsConfig } from "@memory-bank/memory";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryInternalServiceService, type VerifyBanksResponse } from "@memory-bank/proto/memory/v1/memory";
import { connect } from "@memory-bank/rpc";
import { backupFolder } from "./keeping/backup-folder.ts";
import type { Manifest } from "./keeping/data-files.ts";
import { restoreFolder } from "./keeping/restore-folder.ts";
import { verifyFolder } from "./keeping/verify-folder.ts";

// What only an operator may do: on a data folder, or through the internal RPCs of a running service. For those the service must
// have been started with the same RPC_SERVICE_TOKEN: that is what makes this command a member of the mesh.
const usage = `usage: pnpm run admin create-tenant TENANT [KEY NAME]      prints the tenant's first owner key, once
       pnpm run admin set-tenant-config TENANT FILE.json   replaces the tenant's layer of the configuration
       pnpm run admin backup DIR                           copies DATA_DIR into an empty folder, also while it is served
       pnpm run admin restore DIR                          checks a backup and copies it into DATA_DIR, which must be empty
       pnpm run admin verify [BANK] [--tenant T] [--repair]
                                                           checks that the records of a bank (or all) agree, and mends them`;

const callMs = 10_000;
/** A large folder takes minutes, with a repair that embeds everything hours. */
const verifyMs = 43_200_000;

const address = (name: string, description: string) => string(name, { description, default: "127.0.0.1:50051" });
const { config } = loadConfig(
  {
    dataDir: string("DATA_DIR", { description: "Folder of the database files", default: "./data" }),
    embeddings: embeddingsConfig,
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "As the service was started with", optional: true }),
    auth: address("AUTH_RPC_ADDRESS", "Where auth serves gRPC"),
    bank: address("BANK_RPC_ADDRESS", "Where bank serves gRPC"),
    memory: address("MEMORY_RPC_ADDRESS", "Where memory serves gRPC"),
  },
  process.env,
);
const nowUs = createClock();
const newId = () => crypto.randomUUID();

type Command = (args: readonly string[], options: { readonly tenant: string; readonly repair: boolean }) => Promise<void>;

const commands: Readonly<Record<string, Command>> = {
  async "create-tenant"([tenantId, ownerKeyName = "First owner key"]) {
    if (tenantId === undefined) throw wrongUse;
    await using auth = connectTo(config.auth);
    const { apiKey } = await auth.client(AuthInternalServiceService).createTenant(contextFor(callMs), { tenantId, ownerKeyName });
    console.log(apiKey);
  },

  async "set-tenant-config"([tenantId, file]) {
    if (tenantId === undefined || file === undefined) throw wrongUse;
    await using bank = connectTo(config.bank);
    const layer = JSON.parse(readFileSync(file, "utf8"));
    await bank.client(BankInternalServiceService).setTenantConfig(contextFor(callMs), { tenantId, config: layer });
    console.log(`The configuration of tenant ${tenantId} is set.`);
  },

  async backup([target]) {
    if (target === undefined) throw wrongUse;
    const manifest = await backupFolder(config.dataDir, target);
    console.log(`${config.dataDir} is backed up in ${target}: ${sizeOf(manifest)}, with the secrets that it is read by.`);
  },

  async restore([source]) {
    if (source === undefined) throw wrongUse;
    const manifest = await restoreFolder(source, config.dataDir, { nowUs, newId });
    console.log(
      `The backup of ${manifest.startedAt} is in ${config.dataDir}: ${sizeOf(manifest)}. Next: pnpm run admin verify --repair`,
    );
  },

  async verify([bankId = ""], { tenant, repair }) {
    const request = { tenantId: tenant, bankId, repair };
    const signal = new AbortController().signal;
    const embedder = embedderConfigOf(config.embeddings);
    let response: VerifyBanksResponse;
    try {
      response = await verifyFolder(config.dataDir, request, { embedder, nowUs, signal });
    } catch (error) {
      if (!isAppError(error, "FOLDER_IN_USE")) throw error;
      await using memory = connectTo(config.memory);
      response = await memory.client(MemoryInternalServiceService).verifyBanks(contextFor(verifyMs), request);
    }
    report(response);
  },
};

const wrongUse = new AppError("invalid_argument", "WRONG_USE", usage);

function connectTo(target: string) {
  if (config.serviceToken === undefined) {
    throw new AppError(
      "invalid_argument",
      "NO_SERVICE_TOKEN",
      "A running service is asked: set RPC_SERVICE_TOKEN as it was started with",
    );
  }
  return connect({ address: target, serviceToken: config.serviceToken });
}

const contextFor = (ms: number) => systemContext(newId(), Date.now() + ms);

const sizeOf = ({ files }: Manifest) =>
  `${files.length} files, ${Math.ceil(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1024)} KiB`;

/** One line per disagreement; the exit code tells whether any is left. */
function report({ banksCount, disagreements, omittedCount }: VerifyBanksResponse): void {
  for (const { tenantId, bankId, part, text, isRepaired } of disagreements) {
    console.log(`${tenantId}/${bankId} ${part}: ${text}${isRepaired ? " (mended)" : ""}`);
  }
  const left = disagreements.filter(({ isRepaired }) => !isRepaired).length + omittedCount;
  const omitted = omittedCount > 0 ? `, ${omittedCount} of them not shown` : "";
  console.log(`${banksCount} banks, ${disagreements.length + omittedCount} disagreements, ${left} left${omitted}`);
  if (left > 0) process.exitCode = 1;
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { tenant: { type: "string", default: "default" }, repair: { type: "boolean", default: false } },
  });
  const [name = "", ...args] = positionals;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw wrongUse;
  await command(args, values);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
