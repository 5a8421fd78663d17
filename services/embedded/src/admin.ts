import { readFileSync } from "node:fs";
import { loadConfig, secret, string } from "@memory-bank/config";
import { systemContext } from "@memory-bank/context";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import { connect } from "@memory-bank/rpc";

// What only an operator may do, through the internal RPCs of a running service. The service must have been started with the
// same RPC_SERVICE_TOKEN: that is what makes this command a member of the mesh.
const usage = `usage: pnpm run admin create-tenant TENANT [KEY NAME]      prints the tenant's first owner key, once
       pnpm run admin set-tenant-config TENANT FILE.json   replaces the tenant's layer of the configuration`;

const callMs = 10_000;
const [command, tenantId, argument] = process.argv.slice(2);
const { config } = loadConfig(
  {
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "As the service was started with" }),
    auth: string("AUTH_RPC_ADDRESS", { description: "Where auth serves gRPC", default: "127.0.0.1:50051" }),
    bank: string("BANK_RPC_ADDRESS", { description: "Where bank serves gRPC", default: "127.0.0.1:50051" }),
  },
  process.env,
);
const ctx = systemContext(crypto.randomUUID(), Date.now() + callMs);

if (command === "create-tenant" && tenantId !== undefined) {
  await using auth = connect({ address: config.auth, serviceToken: config.serviceToken });
  const { apiKey } = await auth
    .client(AuthInternalServiceService)
    .createTenant(ctx, { tenantId, ownerKeyName: argument ?? "First owner key" });
  console.log(apiKey);
} else if (command === "set-tenant-config" && tenantId !== undefined && argument !== undefined) {
  await using bank = connect({ address: config.bank, serviceToken: config.serviceToken });
  const layer = JSON.parse(readFileSync(argument, "utf8"));
  await bank.client(BankInternalServiceService).setTenantConfig(ctx, { tenantId, config: layer });
  console.log(`The configuration of tenant ${tenantId} is set.`);
} else {
  console.error(usage);
  process.exitCode = 1;
}
