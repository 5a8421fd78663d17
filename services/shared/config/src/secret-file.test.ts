import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadOrCreateSecretFile } from "./secret-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "secret-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the first call makes a secret that only its owner may read, and later calls answer the same one", () => {
  const path = join(folder, "pepper");
  const secret = loadOrCreateSecretFile(path);
  expect(Buffer.from(secret, "base64url")).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(loadOrCreateSecretFile(path)).toBe(secret);
  expect(readFileSync(path, "utf8")).toBe(`${secret}\n`);
  expect(readdirSync(folder)).toEqual(["pepper"]);
});

test("two files get two secrets", () => {
  expect(loadOrCreateSecretFile(join(folder, "a"))).not.toBe(loadOrCreateSecretFile(join(folder, "b")));
});

test("a secret that others may read is refused with the command that closes it", () => {
  const path = join(folder, "pepper");
  loadOrCreateSecretFile(path);
  chmodSync(path, 0o640);
  expect(() => loadOrCreateSecretFile(path)).toThrow(`chmod 600 ${path}`);
});

test.each(["", "short\n", `${"x".repeat(44)}\n`])("a damaged file is refused and left as it is: %j", (content) => {
  const path = join(folder, "pepper");
  writeFileSync(path, content, { mode: 0o600 });
  expect(() => loadOrCreateSecretFile(path)).toThrow(expect.objectContaining({ reason: "SECRET_FILE_DAMAGED" }));
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("a folder that is missing is an error of its own", () => {
  expect(() => loadOrCreateSecretFile(join(folder, "missing", "pepper"))).toThrow(/ENOENT/);
});
