import { describe, expect, test } from "vitest";
import { freshBank, owner, withKey } from "./service.ts";

describe("who may come in", () => {
  test("everything under /v1 needs a key, health and version do not", async () => {
    const { path } = freshBank();
    const anonymous = withKey("");
    for (const call of [anonymous("GET", `${path}/stats`), withKey("hsk_nonsense")("GET", "/v1/default/banks")]) {
      const answer = await call;
      expect(answer).toMatchObject({ status: 401, body: { detail: "Authentication failed: Invalid API key" } });
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    for (const open of ["/health", "/health/live", "/health/ready", "/version"])
      expect((await anonymous("GET", open)).status).toBe(200);
    expect((await anonymous("GET", "/version")).body).toMatchObject({
      api_version: expect.any(String),
      features: { observations: expect.any(Boolean) },
    });
  });

  test("a key restricted to banks gets 403 elsewhere, before its body is looked at", async () => {
    const [mine, other] = [freshBank(), freshBank()];
    const { body } = await owner("POST", "/v1/api-keys/scoped", {
      name: "app",
      allowed_bank_ids: [mine.bankId],
      expires_in_days: 1,
    });
    const restricted = withKey(body.api_key);
    expect((await restricted("PUT", mine.path, {})).status).toBe(200);
    expect(await restricted("PUT", other.path, "not json")).toMatchObject({
      status: 403,
      body: { detail: `API key is not allowed to access bank '${other.bankId}'` },
    });
    expect((await restricted("GET", "/v1/default/banks")).body.banks.map((bank: { bank_id: string }) => bank.bank_id)).toEqual([
      mine.bankId,
    ]);
    expect((await owner("DELETE", `/v1/api-keys/scoped/${body.id}`)).status).toBe(200);
    expect((await restricted("GET", `${mine.path}/stats`)).status).toBe(401);
  });
});

describe("bad input", () => {
  test.each([
    ["GET", "/v1/default/banks/b/nothing", 404, "Not Found"],
    ["GET", "/v1/other/banks/b/stats", 404, "Not Found"],
    ["GET", "/v1/default/banks/b/stats/", 404, "Not Found"],
    ["DELETE", "/v1/default/banks/b/stats", 405, "Method Not Allowed"],
  ])("%s %s answers %i", async (method, path, status, detail) => {
    expect(await withKey("")(method, path)).toMatchObject({ status, body: { detail } });
  });

  test("all faults of a request are reported at once, and nothing is stored", async () => {
    const { path } = freshBank();
    const answer = await owner("POST", `${path}/memories`, {
      items: [{ context: "x" }, { content: "  " }, { content: 5 }],
      async: "maybe",
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatchObject([
      { type: "missing", loc: ["body", "items", 0, "content"], msg: "Field required", input: { context: "x" } },
      { type: "value_error", loc: ["body", "items", 1, "content"], msg: "Value error, content cannot be empty" },
      { type: "string_type", loc: ["body", "items", 2, "content"], input: 5 },
      { type: "bool_parsing", loc: ["body", "async"], input: "maybe" },
    ]);
    expect((await owner("GET", `${path}/profile`)).status).toBe(404);
  });

  test("bodies: unparsable, missing, too large", async () => {
    const { path } = freshBank();
    expect((await owner("POST", `${path}/memories`, '{"items": [}')).body.detail[0]).toMatchObject({
      type: "json_invalid",
      input: {},
      ctx: { error: "Expecting value" },
    });
    expect((await owner("POST", `${path}/memories`)).body.detail).toMatchObject([
      { type: "missing", loc: ["body"], input: null },
    ]);
    const large = await owner("POST", `${path}/memories`, JSON.stringify({ items: [{ content: "x".repeat(17 * 1024 * 1024) }] }));
    expect(large).toMatchObject({ status: 413, body: { detail: "Request body too large" } });
  });

  test("ids and limits out of bounds", async () => {
    const { path } = freshBank();
    await owner("PUT", path, {});
    expect((await owner("GET", `${path}/memories/xyz`)).body.detail).toBe("Invalid memory_id: 'xyz' is not a valid UUID");
    expect((await owner("GET", `${path}/memories/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await owner("GET", `${path}/memories/list?limit=-1`)).body.detail[0]).toMatchObject({
      type: "greater_than_equal",
      loc: ["query", "limit"],
      input: "-1",
      ctx: { ge: 0 },
    });
    expect((await owner("GET", `${path}/memories/list?limit=5000`)).body.limit).toBe(1000);
    expect((await owner("GET", `${path}/memories/list?consolidation_state=odd`)).status).toBe(400);
    expect((await owner("GET", `${path}/operations/${crypto.randomUUID()}`)).body.status).toBe("not_found");
    expect((await owner("GET", `/v1/default/banks/${"b".repeat(256)}/stats`)).body.detail[0]).toMatchObject({
      type: "string_too_long",
      loc: ["path", "bank_id"],
    });
  });
});
