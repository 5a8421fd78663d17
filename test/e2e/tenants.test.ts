import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, inject, test } from "vitest";
import { freshBank, owner, withKey } from "./service.ts";

const scratch = mkdtempSync(join(tmpdir(), "memory-bank-admin-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const command = new URL("../../services/embedded/src/admin.ts", import.meta.url).pathname;
const { rpcAddress, serviceToken } = inject("service");

async function admin(args: readonly string[], token = serviceToken): Promise<string> {
  const env = { PATH: process.env["PATH"], RPC_SERVICE_TOKEN: token, AUTH_RPC_ADDRESS: rpcAddress, BANK_RPC_ADDRESS: rpcAddress };
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], { env });
  return stdout.trim();
}

describe("tenants", () => {
  test("a new tenant has a key of its own, sees nothing of others, and its configuration layer is under its banks", async () => {
    const tenant = `t-${crypto.randomUUID().slice(0, 8)}`;
    const stranger = withKey(await admin(["create-tenant", tenant]));
    const { path } = freshBank();
    await owner("POST", `${path}/memories`, { items: [{ content: "The vault code is 4711.", document_id: "d" }] });
    expect((await stranger("GET", "/v1/default/banks")).body.banks).toEqual([]);
    expect((await stranger("GET", `${path}/documents/d`)).status).toBe(404);
    expect((await stranger("POST", `${path}/memories/recall`, { query: "vault code" })).body.results).toEqual([]);
    await stranger("PUT", path, { name: "mine" });
    expect((await owner("GET", `${path}/stats`)).body.total_nodes).toBe(1);

    const file = join(scratch, "layer.json");
    writeFileSync(file, JSON.stringify({ retain_chunk_size: 1234, retain_mission: "tenant" }));
    await admin(["set-tenant-config", tenant, file]);
    await stranger("PATCH", `${path}/config`, { updates: { retain_mission: "bank" } });
    const { body } = await stranger("GET", `${path}/config`);
    expect(body.config).toMatchObject({ retain_chunk_size: 1234, retain_mission: "bank" });
    expect(body.overrides).toEqual({ retain_mission: "bank" });
    expect((await owner("GET", `${path}/config`)).body.config.retain_chunk_size).toBe(3000);
  });

  test("the command is refused without the token of the mesh", async () => {
    await expect(admin(["create-tenant", "evil"], "wrong")).rejects.toThrow(/UNAUTHENTICATED|Invalid API key/);
  });
});
