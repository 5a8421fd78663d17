import type { TSchema } from "typebox";
import { describe, expect, test } from "vitest";
import type { GatewayClients } from "../clients.ts";
import type { Operation } from "../route.ts";
import { type BadValue, badQueryValues, badValues, type ExpectedFault, laxForms, sample } from "../test-bad-values.ts";
import { asOwner, testGateway } from "../test-gateway.ts";
import type { Members } from "../validation/containers.ts";
import { ruleOf } from "../validation/schema.ts";
import { routes } from "./all-routes.ts";

/** Every bad value of the contract, at every member of every operation. The tables come from the schemas of the routes. */

const unused = (name: string) =>
  new Proxy({}, { get: (_, method) => () => Promise.reject(new Error(`${name}.${String(method)} was called`)) });
const clients = Object.fromEntries(
  ["auth", "bank", "bankInternal", "memory", "reflect", "webhook"].map((name) => [name, unused(name)]),
) as unknown as GatewayClients;

async function everyOperation() {
  const operations = new Set<Operation>();
  const addRoutes = routes({
    clients,
    nowUs: () => 0,
    newId: () => crypto.randomUUID(),
    log: { debug() {}, info() {}, warn() {}, error() {}, child: () => expect.fail() },
    version: "1.2.3",
    ready: async () => {},
    renderMetrics: async () => "",
  });
  const gateway = await testGateway((app) => {
    app.addHook("onRoute", ({ config }) => {
      if (config?.operation) operations.add(config.operation);
    });
    addRoutes(app);
  });
  return { ...gateway, operations: [...operations] };
}
const gateway = await everyOperation();

interface Given {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: readonly (readonly [name: string, text: string])[];
  /** As it stands. */
  readonly body?: string;
}

/** Sends a request that is right in everything but what is given, and answers the faults; none when it passed the checks. */
async function faultsOf(operation: Operation, { params = {}, query, body }: Given): Promise<Fault[]> {
  const path = operation.url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? "one"));
  const search = new URLSearchParams((query ?? requiredQuery(operation)).map(([name, text]): [string, string] => [name, text]));
  const payload = body ?? (operation.body && JSON.stringify(sample(operation.body)));
  const response = await gateway.app.inject({
    method: operation.method,
    url: search.size > 0 ? `${path}?${search}` : path,
    headers: { ...asOwner, "content-type": "application/json" },
    ...(payload !== undefined && { payload }),
  });
  return response.statusCode === 422 ? response.json<{ detail: Fault[] }>().detail : [];
}

type Fault = Required<ExpectedFault>;

const isRequired = (members: Members, name: string) => !ruleOf(members[name]!).whenAbsent;

function requiredQuery({ query = {} }: Operation): [string, string][] {
  const names = Object.keys(query).filter((name) => isRequired(query, name));
  return names.map((name) => [name, String(sample(query[name]!))]);
}

function expectFault(faults: readonly Fault[], { value, fault, isBranched }: BadValue): void {
  if (isBranched) {
    expect(faults.length, `branches of ${fault.loc.join(".")}`).toBeGreaterThan(1);
    for (const branch of faults) expect(branch.loc.slice(0, fault.loc.length)).toEqual(fault.loc);
    return;
  }
  expect(faults).toEqual([{ input: value, ...fault, url: `https://errors.pydantic.dev/2/v/${fault.type}` }]);
}

/** Rules of meaning, such as a body in which at least one member must be given, may find fault with the rest of the request. */
const only = (place: string, faults: readonly Fault[]) => faults.filter(({ loc }) => loc[0] === place);

/** Nothing between two slashes is another path. */
const badPathValues = (name: string, schema: TSchema) =>
  badValues(schema, ["path", name]).filter(({ value }) => typeof value === "string" && value !== "");

const cases = gateway.operations.map((operation) => [`${operation.method} ${operation.url}`, operation] as const);

test("the tables know every operation", () => {
  expect(cases.length).toBeGreaterThan(70);
});

describe.each(cases)("%s", (_, operation) => {
  const { params = {}, query = {}, body } = operation;
  const [inPath, inQuery] = [Object.entries(params), Object.entries(query)];

  if (inPath.length > 0) {
    test("path", async () => {
      for (const [name, schema] of inPath) {
        for (const bad of badPathValues(name, schema)) {
          expectFault(only("path", await faultsOf(operation, { params: { [name]: String(bad.value) } })), bad);
        }
      }
    });
  }

  if (inQuery.length > 0) {
    test("query", async () => {
      for (const [name, schema] of inQuery) {
        const faultsWith = async (...query: [string, string][]) => only("query", await faultsOf(operation, { query }));
        for (const bad of badQueryValues(schema, name)) expectFault(await faultsWith([name, String(bad.value)]), bad);
        for (const text of laxForms(schema).filter((form) => typeof form === "string")) {
          expect(await faultsWith([name, text]), text).toEqual([]);
        }
        if (isRequired(query, name)) expect(await faultsWith()).toMatchObject([{ type: "missing", loc: ["query", name] }]);
      }
    });
  }

  if (body) {
    test("body", async () => {
      for (const bad of badValues(body, ["body"])) {
        expectFault(await faultsOf(operation, { body: JSON.stringify(bad.value) }), bad);
      }
    });

    test("body: the lax forms of its members", async () => {
      const whole = sample(body) as Record<string, unknown>;
      for (const [name, schema] of Object.entries((body as { properties?: Record<string, TSchema> }).properties ?? {})) {
        for (const form of laxForms(schema)) {
          const faults = await faultsOf(operation, { body: JSON.stringify({ ...whole, [name]: form }) });
          expect(faults.filter(({ loc }) => loc[1] === name)).toEqual([]);
        }
      }
    });

    test("body: text that is no JSON, and no body at all", async () => {
      const error = "Expecting value";
      expect(await faultsOf(operation, { body: '{"a":' })).toEqual([
        { type: "json_invalid", loc: ["body", 5], msg: "JSON decode error", input: {}, ctx: { error } },
      ]);
      const missing: BadValue = { value: null, fault: { type: "missing", loc: ["body"], msg: "Field required" } };
      for (const absent of ["null", ""]) {
        const faults = await faultsOf(operation, { body: absent });
        if (ruleOf(body).whenAbsent) expect(faults).toEqual([]);
        else expectFault(faults, missing);
      }
    });
  }

  test("all faults at once: path, query and body, each in the order of declaration", async () => {
    const path = inPath.flatMap(([name, schema]) => badPathValues(name, schema).slice(0, 1));
    const search = inQuery.flatMap(([name, schema]) => badQueryValues(schema, name).slice(0, 1));
    const text = ({ value, fault }: BadValue): [string, string] => [String(fault.loc[1]), String(value)];
    const faults = await faultsOf(operation, {
      params: Object.fromEntries(path.map(text)),
      query: search.map(text),
      ...(body && { body: '"x"' }),
    });
    const places = [...path, ...search].map(({ fault }) => fault.loc);
    expect(faults.map(({ loc }) => loc)).toEqual(body ? [...places, ["body"]] : places);
  });
});
