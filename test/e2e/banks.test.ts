import { describe, expect, test } from "vitest";
import { eventually } from "../support/api.ts";
import { freshBank, owner } from "./service.ts";

describe("banks", () => {
  test("PUT creates with defaults, changes only what is sent, and PATCH wants an existing bank", async () => {
    const { bankId, path } = freshBank();
    expect(await owner("PATCH", path, { name: "x" })).toMatchObject({
      status: 404,
      body: { detail: `Bank '${bankId}' not found` },
    });
    const created = await owner("PUT", path, {});
    expect(created).toMatchObject({
      status: 200,
      body: { bank_id: bankId, name: bankId, mission: "", disposition: { skepticism: 3, literalism: 3, empathy: 3 } },
    });
    const changed = await owner("PUT", path, {
      name: "Support",
      mission: "Help.",
      disposition: { skepticism: 4, literalism: 1, empathy: 5 },
    });
    expect(changed.body).toMatchObject({
      name: "Support",
      mission: "Help.",
      background: "Help.",
      disposition: { skepticism: 4, literalism: 1, empathy: 5 },
    });
    expect((await owner("PATCH", path, { disposition_empathy: 2 })).body).toMatchObject({
      name: "Support",
      disposition: { skepticism: 4, empathy: 2 },
    });
    expect((await owner("PUT", path, {})).body).toMatchObject({ name: "Support", mission: "Help." });
    expect((await owner("GET", `${path}/profile`)).body).toMatchObject({ bank_id: bankId, name: "Support" });
  });

  test("twenty concurrent PUTs of one new bank all succeed and make one bank", async () => {
    const { bankId, path } = freshBank();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => owner("PUT", path, { name: `n${i}` })));
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    const { body } = await owner("GET", `/v1/default/banks?q=${bankId}`);
    expect(body.banks.map((bank: { bank_id: string }) => bank.bank_id)).toEqual([bankId]);
  });

  test("configuration shows every key resolved and the bank's own overrides apart", async () => {
    const { path } = freshBank();
    const defaults = await owner("GET", `${path}/config`);
    expect(defaults).toMatchObject({
      status: 200,
      body: { overrides: {}, config: { llm_provider: "local", retain_extraction_mode: "concise", retain_chunk_size: 3000 } },
    });
    await owner("PUT", path, { retain_mission: "Note promises.", retain_extraction_mode: "verbose" });
    const { body } = await owner("GET", `${path}/config`);
    expect(body.overrides).toEqual({ retain_mission: "Note promises.", retain_extraction_mode: "verbose" });
    expect(body.config).toMatchObject({ retain_mission: "Note promises.", retain_extraction_mode: "verbose" });
    expect((await owner("PUT", path, { retain_extraction_mode: "psychic" })).status).toBe(400);
  });

  test("the list shows counts and puts the last written bank first", async () => {
    const [first, second, never] = [freshBank("list"), freshBank("list"), freshBank("list")];
    await owner("PUT", never.path, {});
    for (const { path } of [first, second])
      await owner("POST", `${path}/memories`, { items: [{ content: "The mill stands in Delft." }] });
    const { body } = await owner("GET", "/v1/default/banks?q=list-&limit=1000");
    const mine = [first, second, never].map((bank) => bank.bankId);
    const listed = body.banks.filter((bank: { bank_id: string }) => mine.includes(bank.bank_id));
    expect(listed.map((bank: { bank_id: string }) => bank.bank_id)).toEqual([second.bankId, first.bankId, never.bankId]);
    expect(listed[0]).toMatchObject({
      fact_count: 1,
      last_write_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect(listed[2]).toMatchObject({ fact_count: 0, last_write_at: null });
  });

  test("a deleted bank is empty at once, and its id may be used again without anything of the old one", async () => {
    const { path } = freshBank();
    await owner("POST", `${path}/memories`, { items: [{ content: "Otto keeps bees in Ghent.", document_id: "d", tags: ["t"] }] });
    const deleted = await owner("DELETE", path);
    expect(deleted).toMatchObject({ status: 200, body: { success: true, deleted_count: 1 } });
    expect((await owner("GET", `${path}/memories/list`)).body.total).toBe(0);
    expect((await owner("GET", `${path}/profile`)).status).toBe(404);
    expect((await owner("POST", `${path}/memories/recall`, { query: "Who keeps bees?" })).body.results).toEqual([]);
    expect((await owner("DELETE", path)).body).toMatchObject({ success: true, deleted_count: 0 });
    await owner("PUT", path, {});
    expect((await owner("GET", `${path}/stats`)).body).toMatchObject({
      total_nodes: 0,
      total_documents: 0,
      pending_operations: 0,
    });
    expect((await owner("GET", `${path}/tags`)).body.items).toEqual([]);
    expect((await owner("GET", `${path}/documents/d`)).status).toBe(404);
  });

  test("deleting a bank under load: retains end defined, nothing comes back", async () => {
    const { path } = freshBank();
    await owner("PUT", path, {});
    const load = Array.from({ length: 12 }, (_, i) =>
      owner("POST", `${path}/memories`, { async: i % 2 === 0, items: [{ content: `Shelf ${i} holds jar ${i}.` }] }),
    );
    const deleted = await owner("DELETE", path);
    expect(deleted.status).toBe(200);
    for (const { status } of await Promise.all(load)) expect([200, 404, 409, 503]).toContain(status);
    await owner("DELETE", path);
    await eventually("the bank stays empty", async () => (await owner("GET", `${path}/stats`)).body.total_nodes === 0);
  });
});
