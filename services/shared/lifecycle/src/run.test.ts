import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createResources } from "./resources.ts";

/** Runs `body` as the start function of a process of its own; sends the signals once it has printed "ready". */
async function outcome(body: string, signals: NodeJS.Signals[] = []) {
  const code = `import { run } from ${JSON.stringify(new URL("run.ts", import.meta.url).href)};
    const say = (text) => console.log(text);
    await run(async (resources) => { ${body} });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out += text;
    while (out.split("ready").length - 1 > sent && sent < signals.length) child.kill(signals[sent++]);
  });
  let sent = 0;
  const [code_] = await once(child, "close");
  return { code: code_, out: out.trim().split(/\s+/), err };
}

test("a stop signal releases everything in reverse order and exits with 0", async () => {
  const body = `resources.use({ [Symbol.asyncDispose]: async () => say("store") });
    resources.defer(() => say("server")); say("ready");`;
  expect(await outcome(body, ["SIGTERM"])).toEqual({ code: 0, out: ["ready", "server", "store"], err: "" });
});

test("a failed start releases what it had, says why in one line without secrets, and exits with 1", async () => {
  const body = `resources.defer(() => say("released"));
    throw new Error("cannot open\\nthe store", { cause: new Error("key hsk_abc") });`;
  const { code, out, err } = await outcome(body);
  expect({ code, out, err }).toEqual({ code: 1, out: ["released"], err: "Start failed: cannot open the store: key [hidden]\n" });
});

test("a release that fails is told, does not stop the others, and exits with 1", async () => {
  const body = `resources.defer(() => say("other")); resources.defer(() => { throw new Error("stuck"); }); say("ready");`;
  expect(await outcome(body, ["SIGINT"])).toEqual({ code: 1, out: ["ready", "other"], err: "Stop failed: stuck\n" });
});

test("a second signal exits at once", async () => {
  const body = `resources.defer(() => { say("ready"); return new Promise(() => {}); }); say("ready");`;
  expect(await outcome(body, ["SIGTERM", "SIGTERM"])).toMatchObject({ code: 143 });
});

test("a signal during the start waits for it and then stops", async () => {
  const body = `say("ready"); await new Promise((resolve) => setTimeout(resolve, 50)); say("started"); resources.defer(() => say("released"));`;
  expect(await outcome(body, ["SIGTERM"])).toMatchObject({ code: 0, out: ["ready", "started", "released"] });
});

test("resources work without a process", async () => {
  const released: string[] = [];
  {
    await using resources = createResources();
    resources.defer(() => void released.push("first"));
    resources.use({ [Symbol.dispose]: () => void released.push("second") });
  }
  expect(released).toEqual(["second", "first"]);
});
