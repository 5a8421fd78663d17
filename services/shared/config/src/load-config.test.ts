import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, expectTypeOf, test } from "vitest";
import { describeConfig } from "./describe-config.ts";
import { bool, int, list, oneOf, secret, string } from "./field.ts";
import { loadConfig, variants } from "./load-config.ts";

const schema = {
  listen: {
    host: string("RPC_LISTEN_HOST", { default: "127.0.0.1", description: "Where to listen" }),
    port: int("RPC_LISTEN_PORT", { default: 50051, min: 1, max: 65_535, description: "Where to listen" }),
  },
  pepper: secret("AUTH_KEY_PEPPER", { minLength: 8, description: "Mixed into key hashes" }),
  previousPepper: secret("AUTH_KEY_PEPPER_PREVIOUS", { optional: true, description: "Accepted beside it" }),
  reembed: bool("MEMORY_EMBEDDINGS_REEMBED", { default: false, description: "Allow it" }),
  hosts: list("WEBHOOK_ALLOWED_HOSTS", { default: [], maxItems: 3, description: "Let through" }),
  provider: oneOf("LLM_PROVIDER", { values: ["local", "openai", "none"], default: "local", description: "Which" }),
  store: variants(oneOf("BANK_STORE_KIND", { values: ["sqlite", "mongodb"], default: "sqlite", description: "Which" }), {
    sqlite: { file: string("BANK_STORE_FILE", { default: "bank.sqlite", description: "Path" }) },
    mongodb: { url: secret("MONGODB_URL", { description: "Where" }) },
  }),
};
const pepper = "0123456789";
const folder = mkdtempSync(join(tmpdir(), "config-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("loadConfig", () => {
  test("gives defaults, typed and frozen", () => {
    const { config, warnings } = loadConfig(schema, { AUTH_KEY_PEPPER: pepper });
    expect(config).toEqual({
      listen: { host: "127.0.0.1", port: 50051 },
      pepper,
      previousPepper: undefined,
      reembed: false,
      hosts: [],
      provider: "local",
      store: { kind: "sqlite", file: "bank.sqlite" },
    });
    expect(warnings).toEqual([]);
    expect(Object.isFrozen(config) && Object.isFrozen(config.listen) && Object.isFrozen(config.hosts)).toBe(true);
    expectTypeOf(config.listen.port).toEqualTypeOf<number>();
    expectTypeOf(config.previousPepper).toEqualTypeOf<string | undefined>();
    expectTypeOf(config.provider).toEqualTypeOf<"local" | "openai" | "none">();
    if (config.store.kind === "mongodb") expectTypeOf(config.store.url).toEqualTypeOf<string>();
  });

  test("reads every kind of value", () => {
    const { config } = loadConfig(schema, {
      RPC_LISTEN_PORT: "0009",
      AUTH_KEY_PEPPER: pepper,
      MEMORY_EMBEDDINGS_REEMBED: "YES",
      WEBHOOK_ALLOWED_HOSTS: " a.example, ,10.0.0.0/8 ",
      LLM_PROVIDER: "none",
      BANK_STORE_KIND: "mongodb",
      MONGODB_URL: "mongodb://db",
    });
    expect(config).toMatchObject({ listen: { port: 9 }, reembed: true, hosts: ["a.example", "10.0.0.0/8"], provider: "none" });
    expect(config.store).toEqual({ kind: "mongodb", url: "mongodb://db" });
  });

  test("lists every problem at once, by name and without the values", () => {
    const env = {
      RPC_LISTEN_PORT: "70000",
      AUTH_KEY_PEPPER: "short",
      MEMORY_EMBEDDINGS_REEMBED: "perhaps",
      WEBHOOK_ALLOWED_HOSTS: "a,b,c,d",
      LLM_PROVIDER: "oracle",
      BANK_STORE_KIND: "mongodb",
    };
    const thrown = caught(() => loadConfig(schema, env));
    expect(thrown).toMatchObject({ code: "invalid_argument", reason: "INVALID_CONFIG" });
    const names = (thrown as { details: { problems: string[] } }).details.problems.map((problem) => problem.split(" ")[0]);
    expect(names).toEqual([
      "RPC_LISTEN_PORT",
      "AUTH_KEY_PEPPER",
      "MEMORY_EMBEDDINGS_REEMBED",
      "WEBHOOK_ALLOWED_HOSTS",
      "LLM_PROVIDER",
      "MONGODB_URL",
    ]);
    expect(String(thrown)).not.toContain("short");
    expect(String(thrown)).toContain("LLM_PROVIDER must be one of local, openai, none");
  });

  test.each(["1.5", "1e3", "0x10", "", " 7"])("an integer is decimal digits: %j is refused or absent", (text) => {
    const read = () => loadConfig({ port: int("P", { min: 0, max: 10_000, description: "" }) }, { P: text });
    expect(read).toThrow(/P /);
  });

  test("a secret comes from its file, without the line break at its end", () => {
    const file = join(folder, "pepper");
    writeFileSync(file, "from-a-file\n");
    expect(loadConfig(schema, { AUTH_KEY_PEPPER_FILE: file }).config.pepper).toBe("from-a-file");
    expect(() => loadConfig(schema, { AUTH_KEY_PEPPER_FILE: file, AUTH_KEY_PEPPER: pepper })).toThrow(/both set/);
    expect(() => loadConfig(schema, { AUTH_KEY_PEPPER_FILE: join(folder, "none") })).toThrow(/ENOENT/);
  });

  test("an empty variable is an absent one", () => {
    expect(loadConfig(schema, { AUTH_KEY_PEPPER: pepper, RPC_LISTEN_HOST: "" }).config.listen.host).toBe("127.0.0.1");
    expect(() => loadConfig(schema, { AUTH_KEY_PEPPER: "" })).toThrow(/AUTH_KEY_PEPPER is required/);
  });

  test("names that look like ours are warned of, injected ones and those of other programs are not", () => {
    const { warnings } = loadConfig(schema, {
      AUTH_KEY_PEPPER: pepper,
      MONGODB_URL: "belongs to the alternative that was not chosen",
      GATEWAY_LISTN_PORT: "80",
      RPC_LISTEN_HOST_FILE: "only secrets have files",
      BANK_SERVICE_HOST: "10.0.0.1",
      BANK_SERVICE_PORT: "80",
      BANK_SERVICE_PORT_GRPC: "80",
      BANK_PORT: "tcp://10.0.0.1:80",
      BANK_PORT_80_TCP: "tcp://10.0.0.1:80",
      BANK_PORT_80_TCP_ADDR: "10.0.0.1",
      PATH: "/bin",
    });
    expect(warnings.map((warning) => warning.split(" ")[0])).toEqual(["GATEWAY_LISTN_PORT", "RPC_LISTEN_HOST_FILE"]);
  });
});

test("describeConfig prints the values in use by variable name and hides secrets", () => {
  const { config } = loadConfig(schema, {
    AUTH_KEY_PEPPER: pepper,
    BANK_STORE_KIND: "mongodb",
    MONGODB_URL: "mongodb://user:pass@db",
  });
  const text = JSON.stringify(describeConfig(schema, config));
  expect(JSON.parse(text)).toEqual({
    RPC_LISTEN_HOST: "127.0.0.1",
    RPC_LISTEN_PORT: 50051,
    AUTH_KEY_PEPPER: "(set)",
    AUTH_KEY_PEPPER_PREVIOUS: "(not set)",
    MEMORY_EMBEDDINGS_REEMBED: false,
    WEBHOOK_ALLOWED_HOSTS: [],
    LLM_PROVIDER: "local",
    BANK_STORE_KIND: "mongodb",
    MONGODB_URL: "(set)",
  });
});

function caught(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error("expected a throw");
}
