import { createAuthService, openAuthStore } from "@memory-bank/auth";
import { createInProcessBus, type EventBus } from "@memory-bank/events";
import { createGateway, createKeyVerifier, type GatewayClients, routes } from "@memory-bank/gateway";
import { createResources } from "@memory-bank/lifecycle";
import { AuthInternalServiceService, AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { connect, createInProcessMesh, type Rpc, type ServiceDefinition, serve } from "@memory-bank/rpc";
import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { expect, test } from "vitest";
import { eventually } from "../support/api.ts";
import type { OpenApiDocument } from "../support/openapi.ts";
import { sampleCalls } from "../support/sample-calls.ts";

const [hourUs, dayUs] = [3_600_000_000, 86_400_000_000];
const log = silentLogger;
const newId = () => crypto.randomUUID();

/** Auth over SQLite and the gateways that a test asks for, at a time that the test sets. */
async function openDoors() {
  const resources = createResources();
  const clock = { us: Date.now() * 1_000 };
  const nowUs = () => clock.us;
  const bus = resources.use(createInProcessBus({ log }));
  const store = resources.use(await openAuthStore({ kind: "sqlite", file: ":memory:" }, { bus, log, nowUs, newId }));
  const forgetters: ((keyIds: readonly string[]) => void)[] = [];
  const auth = createAuthService({
    ...{ store, log, nowUs, newId, meter: createMeter() },
    peppers: { current: "a pepper of at least thirty-two characters" },
    onRevoked: (keyIds) => forgetters.forEach((forget) => void forget(keyIds)),
  });
  const mesh = createInProcessMesh({ log, nowMs: () => clock.us / 1_000 });
  mesh.bind(auth);
  const serviceToken = newId();
  const verifyKey = () => Promise.reject(new Error("nobody calls directly here"));
  const server = resources.use(await serve([auth], { host: "127.0.0.1", port: 0, log, newId, serviceToken, verifyKey }));
  await auth.start();
  resources.defer(() => auth.stop());
  const first = await auth.ensureBootstrapKey({ createWhenMissing: true });

  /** Calls of services other than auth, which must not happen before a key was found good. */
  const behindTheDoor: string[] = [];
  const untouched = new Proxy({}, { get: (_, method) => async () => void behindTheDoor.push(String(method)) });

  const gateway = async (client: <S extends ServiceDefinition>(definition: S) => Rpc<S>, events: Pick<EventBus, "subscribe">) => {
    const verifier = createKeyVerifier({ auth: client(AuthInternalServiceService), bus: events, nowUs, newId });
    await verifier.start();
    const names = ["bank", "bankInternal", "memory", "reflect", "webhook"];
    const clients = { ...Object.fromEntries(names.map((name) => [name, untouched])), auth: client(AuthServiceService) };
    const app = await createGateway({
      ...{ log, newId, version: "0.0.0", now: nowUs, verifyKey: verifier.verify },
      routes: routes({
        ...{ nowUs, newId, log, version: "0.0.0", ready: async () => {}, renderMetrics: async () => "" },
        clients: clients as unknown as GatewayClients,
      }),
    });
    resources.defer(() => app.close());
    const call = async (apiKey: string, method: string, url: string, body?: unknown) => {
      const response = await app.inject({
        method: method as "GET",
        url,
        headers: { authorization: `Bearer ${apiKey}` },
        ...(body === undefined ? {} : { payload: body as object }),
      });
      return { status: response.statusCode, body: response.json(), authenticate: response.headers["www-authenticate"] };
    };
    return { call, verifier };
  };

  /** The gateway that shares the process with auth, which tells it of revocations. */
  const own = await gateway((definition) => mesh.client(definition), bus);
  forgetters.push(own.verifier.forget);
  /** A gateway in a process of its own: it speaks gRPC to auth, and hears of revocations by the given bus alone. */
  const remote = (events: Pick<EventBus, "subscribe">) => {
    const peer = resources.use(connect({ address: `127.0.0.1:${server.port}`, serviceToken }));
    return gateway((definition) => peer.client(definition), events);
  };
  return { ...resources, clock, bus, own, remote, owner: first!.apiKey, behindTheDoor };
}

type Doors = Awaited<ReturnType<typeof openDoors>>;

async function made(doors: Doors, by: string, path: string, members: object): Promise<{ id: string; apiKey: string }> {
  const { status, body } = await doors.own.call(by, "POST", path, { name: "n", ...members });
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: body.id, apiKey: body.api_key };
}
const createKey = (doors: Doors, members: object) => made(doors, doors.owner, "/v1/api-keys", members);
const createChild = (doors: Doors, parent: string) =>
  made(doors, parent, "/v1/api-keys/scoped", { allowed_bank_ids: ["b"], expires_in_days: 1 });

const refused = { status: 401, body: { detail: "Authentication failed: Invalid API key" }, authenticate: "Bearer" };
const read = ["GET", "/v1/api-keys"] as const;

/** A bus whose events do not arrive. */
const deaf: Pick<EventBus, "subscribe"> = { subscribe: async () => ({ [Symbol.asyncDispose]: async () => {} }) };

test("a key ends with its time, to the microsecond, remembered or not", async () => {
  await using doors = await openDoors();
  const startUs = doors.clock.us;
  const { apiKey } = await createKey(doors, { expiration: "1h" });
  doors.clock.us = startUs + hourUs - 1;
  expect((await doors.own.call(apiKey, ...read)).status).toBe(200);
  doors.clock.us = startUs + hourUs;
  expect(await doors.own.call(apiKey, ...read), "verified a microsecond ago").toEqual(refused);
  expect(await (await doors.remote(doors.bus)).call(apiKey, ...read), "never seen before").toEqual(refused);
});

test("an expired key is answered on every route as any bad key is, and nothing behind the door is called", async () => {
  await using doors = await openDoors();
  const expired = await createKey(doors, { expiration: "1h" });
  const parent = await createKey(doors, { expiration: "1d", capabilities: ["create_scoped_keys"] });
  const child = await createChild(doors, parent.apiKey);
  doors.clock.us += dayUs + 1;
  const document: OpenApiDocument = (await doors.own.call(doors.owner, "GET", "/openapi.json")).body;
  const names = new Set(Object.keys(document.paths).flatMap((path) => path.match(/(?<=\{)\w+/g) ?? []));
  const ids = Object.fromEntries([...names].map((name) => [name, name === "bank_id" ? "b" : newId()]));
  const calls = sampleCalls(document, ids).filter(({ needsKey }) => needsKey);
  expect(calls.length).toBeGreaterThan(70);
  doors.behindTheDoor.length = 0; // the audit entries of the keys made above
  for (const { apiKey } of [expired, parent, child]) {
    for (const { method, path, body } of calls) {
      expect(await doors.own.call(apiKey, method, path, body), `${method} ${path}`).toEqual(refused);
    }
  }
  expect(doors.behindTheDoor.filter((method) => method !== "recordAudit")).toEqual([]);
});

test("a revocation holds at once here, by the event elsewhere, and within a second where no event comes", async () => {
  await using doors = await openDoors();
  const hearing = await doors.remote(doors.bus);
  const unhearing = await doors.remote(deaf);
  const parent = await createKey(doors, { capabilities: ["create_scoped_keys"] });
  const child = await createChild(doors, parent.apiKey);
  const keys = [parent.apiKey, child.apiKey];
  for (const gateway of [doors.own, hearing, unhearing])
    for (const apiKey of keys) expect((await gateway.call(apiKey, ...read)).status).toBe(200);

  expect((await doors.own.call(doors.owner, "DELETE", `/v1/api-keys/${parent.id}`)).status).toBe(200);
  // The clock stands still, so that no answer gets too old to be used: what ends here, an event has ended.
  for (const apiKey of keys) {
    expect(await doors.own.call(apiKey, ...read)).toEqual(refused);
    await eventually("the event has come", async () => (await hearing.call(apiKey, ...read)).status === 401);
    expect(await hearing.call(apiKey, ...read)).toEqual(refused);
    expect(await unhearing.verifier.verify(apiKey), "it could not know").toMatchObject({ tenantId: "default" });
  }
  doors.clock.us += 1_000_000;
  for (const apiKey of keys) expect(await unhearing.call(apiKey, ...read)).toEqual(refused);
});

test("a revocation through one gateway holds at another that is already asking", async () => {
  await using doors = await openDoors();
  const hearing = await doors.remote(doors.bus);
  for (let round = 0; round < 20; round++) {
    const { id, apiKey } = await createKey(doors, {});
    const asked = Array.from({ length: 8 }, () => hearing.call(apiKey, ...read));
    const revocation = await doors.own.call(doors.owner, "DELETE", `/v1/api-keys/${id}`);
    expect(revocation.status).toBe(200);
    await Promise.all(asked); // either answer is right: they came before
    await eventually("the event has come", async () => (await hearing.call(apiKey, ...read)).status === 401);
    expect(await hearing.call(apiKey, ...read)).toEqual(refused);
  }
});
