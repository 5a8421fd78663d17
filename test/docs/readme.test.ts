import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, startProcess } from "../modes/process.ts";
import { fetchOpenApi, operationsOf } from "../support/openapi.ts";

/** The README says what is: its table is that of the service, its examples run as they stand. */

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const section = (title: string) => new RegExp(`^## ${title}\\n(.*?)(?=^## )`, "ms").exec(readme)![1]!;

let service: RunningService;
beforeAll(async () => {
  service = await startProcess();
});
afterAll(() => service.stop());

test("the table of operations is that of the API description", async () => {
  const rows = [...section("Operations").matchAll(/^\| `([A-Z]+) (\S+)` \| (.+) \|$/gm)];
  const listed = rows.map(([, method, url, line]) => `${method} ${url!.replace("…", "/v1/default/banks/{bank_id}")}: ${line}`);
  const served = operationsOf(await fetchOpenApi(service.url));
  expect(listed).toEqual(served.map(({ method, url, operation }) => `${method} ${url}: ${operation.summary}`));
});

interface Example {
  readonly script: string;
  /** Members of the last line it prints. */
  readonly shown: unknown;
}

function examples(): Example[] {
  const blocks = [...section("Examples").matchAll(/^```(sh|json)\n(.*?)^```$/gms)].map(([, kind, text]) => ({
    kind,
    text: text!,
  }));
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1];
    return kind === "sh" ? [{ script: text, shown: next?.kind === "json" ? JSON.parse(next.text) : undefined }] : [];
  });
}

/** What an answer must hold: `…` stands for any text, further members and elements may follow. */
function pattern(shown: unknown): unknown {
  if (shown === "…") return expect.any(String);
  if (Array.isArray(shown)) return shown.length === 0 ? [] : expect.arrayContaining(shown.map(pattern));
  if (typeof shown !== "object" || shown === null) return shown;
  return expect.objectContaining(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, pattern(value)])));
}

describe("examples", () => {
  const given = examples();

  test("run one after another in one shell, and print what is shown", async () => {
    expect(given.length).toBeGreaterThan(10);
    const mark = "--- end of example ---";
    // A failed request ends the script: curl fails with it.
    const script = ["set -e -o pipefail", ...given.map(({ script }) => `${script}echo '${mark}'`)].join("\n");
    const { stdout } = await promisify(execFile)("bash", ["-c", script.replaceAll("http://127.0.0.1:8888", service.url)], {
      env: { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, MEMORY_BANK_KEY: service.ownerKey },
      timeout: 50_000,
    });
    const printed = stdout.split(`${mark}\n`).map((text) => text.trim().split("\n").at(-1)!);
    for (const [index, { script, shown }] of given.entries()) {
      if (shown !== undefined) expect(JSON.parse(printed[index]!), script).toEqual(pattern(shown));
    }
  });
});

test("the first steps find what they retained", async () => {
  const commands = [...section("Run it").matchAll(/^\$ (curl .*(?:\n {4}.*)*)/gm)].map(([, command]) => command!);
  expect(commands.length).toBe(2);
  const answers: string[] = [];
  for (const command of commands) {
    const { stdout } = await promisify(execFile)("bash", ["-c", command.replaceAll("http://127.0.0.1:8888", service.url)], {
      env: { PATH: process.env["PATH"], MEMORY_BANK_KEY: service.ownerKey },
    });
    answers.push(stdout);
  }
  expect(readme).toContain(answers[0]);
  expect(JSON.parse(answers[1]!).results[0]).toMatchObject({
    text: "Maria: I run the Lisbon office of Northwind.",
    type: "world",
    entities: ["Lisbon", "Maria", "Northwind"],
  });
});
