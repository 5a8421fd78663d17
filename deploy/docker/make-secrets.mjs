// Makes the secrets of a mesh on one machine: one file each in the folder that is given, readable by this user alone. What is
// there already stays, so that a second start finds the same.
import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKeyString } from "../../services/auth/src/domain/key-string.ts";

const KEY_BYTES = 32;
const random = () => randomBytes(KEY_BYTES).toString("hex");
const secrets = {
  "owner-key": createKeyString,
  "rpc-service-token": random,
  "auth-key-pepper": random,
  "webhook-encryption-key": random,
};

const folder = process.argv[2];
if (folder === undefined) throw new Error("Usage: make-secrets.mjs <folder>");
chmodSync(folder, 0o700);
for (const [name, make] of Object.entries(secrets)) {
  try {
    writeFileSync(join(folder, name), make(), { flag: "wx", mode: 0o400 });
    console.log(`${name}: made`);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    console.log(`${name}: was there`);
  }
}
