import { describe, expect, test } from "vitest";
import { eventually } from "../support/api.ts";
import { freshBank, owner } from "./service.ts";

/** Input at the edges: each has a defined answer, and leaves either everything or nothing behind. */

const total = async (path: string) => (await owner("GET", `${path}/memories/list?limit=0`)).body.total as number;

describe("hostile bodies", () => {
  test("nesting is refused before it is walked", async () => {
    const { path } = freshBank();
    for (const depth of [1_000, 1_000_000]) {
      const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
      for (const body of [deep, `{"items":${deep}}`, `{"items":[{"content":"x","metadata":${deep}}]}`]) {
        expect((await owner("POST", `${path}/memories`, body)).status).toBe(422);
      }
    }
  });

  test("a list of a hundred thousand wrong items is answered with a bounded list of faults", async () => {
    const { path } = freshBank();
    const { status, body } = await owner("POST", `${path}/memories`, { items: Array(100_000).fill({}) });
    expect(status).toBe(422);
    expect(body.detail.length).toBeLessThanOrEqual(1_000);
    expect(body.detail[0]).toMatchObject({ type: "missing", loc: ["body", "items", 0, "content"] });
  });

  test("NUL is dropped from text, a lone surrogate becomes the replacement character; both are faults of ids", async () => {
    const { path } = freshBank();
    const content = '"The b\\u0000ell of Gh\\ud800ent rings."';
    expect((await owner("POST", `${path}/memories`, `{"items":[{"content":${content},"document_id":"d"}]}`)).status).toBe(200);
    expect((await owner("GET", `${path}/documents/d`)).body.original_text).toBe("The bell of Gh\ufffdent rings.");
    for (const id of ["a\\u0000b", "a\\ud800b"]) {
      const { status, body } = await owner("POST", `${path}/memories`, `{"items":[{"content":"x","document_id":"${id}"}]}`);
      expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([
        422,
        "string_pattern_mismatch",
        ["body", "items", 0, "document_id"],
      ]);
    }
    expect((await owner("GET", "/v1/default/banks/a%00b/stats")).body.detail[0]).toMatchObject({ loc: ["path", "bank_id"] });
  });

  test("ten thousand tags on one item are kept and counted, one too long is not", async () => {
    const { path } = freshBank();
    const tags = Array.from({ length: 10_000 }, (_, i) => `tag-${i}`);
    expect((await owner("POST", `${path}/memories`, { items: [{ content: "Otto keeps bees.", tags }] })).status).toBe(200);
    expect((await owner("GET", `${path}/tags?limit=1`)).body.total).toBe(10_000);
    expect((await owner("GET", `${path}/memories/list`)).body.items[0].tags).toHaveLength(10_000);
    const long = { items: [{ content: "x", tags: ["t".repeat(256)] }] };
    expect((await owner("POST", `${path}/memories`, long)).body.detail).toMatchObject([
      { type: "string_too_long", loc: ["body", "items", 0, "tags", 0], ctx: { max_length: 255 } },
    ]);
  });

  test("a body up to the limit is taken, one above is not, and nothing of it stays", async () => {
    const { path } = freshBank();
    const padded = (bytes: number) => {
      const text = JSON.stringify({ items: [{ content: "The mill stands in Delft." }] });
      return text + " ".repeat(bytes - text.length);
    };
    expect((await owner("POST", `${path}/memories`, padded(16 * 1024 * 1024))).status).toBe(200);
    expect((await owner("POST", `${path}/memories`, padded(16 * 1024 * 1024 + 1))).status).toBe(413);
    expect(await total(path)).toBe(1);
  });
});

describe("instants at the edge of the clock", () => {
  test.each([
    ["1684-01-01T00:00:00Z", "outside"],
    ["9999-12-31T23:59:59Z", "outside"],
    ["0001-01-01T00:00:00Z", "outside"],
    ["2255-01-01T00:00:00Z", "2255-01-01T00:00:00.000000Z"],
    ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"],
    ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
    ["2024-02-29T23:30:00-05:30", "2024-03-01T05:00:00.000000Z"],
  ])("retained at %s", async (timestamp, expected) => {
    const { path } = freshBank();
    const { status, body } = await owner("POST", `${path}/memories`, { items: [{ content: "Otto keeps bees.", timestamp }] });
    if (expected === "outside") {
      expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([422, "value_error", ["body", "items", 0, "timestamp"]]);
      expect(await total(path)).toBe(0);
    } else expect((await owner("GET", `${path}/memories/list`)).body.items[0].mentioned_at).toBe(expected);
  });

  test("filters take any instant, and those beyond the clock are its ends", async () => {
    const { path } = freshBank();
    await owner("POST", `${path}/memories`, { items: [{ content: "Otto keeps bees in Ghent." }] });
    const window = { start: "0001-01-01T00:00:00Z", end: "9999-12-31T23:59:59Z" };
    const { body } = await owner("POST", `${path}/memories/recall`, { query: "Who keeps bees?", temporal_window: window });
    expect(body.results).toHaveLength(1);
    for (const date of ["0001-01-01", "9999-12-31T23:59:59.999999Z"]) {
      expect((await owner("GET", `${path}/audit-logs?start_date=${date}`)).status).toBe(200);
    }
    const backwards = { query: "bees", temporal_window: { start: window.end, end: window.start } };
    expect((await owner("POST", `${path}/memories/recall`, backwards)).body.detail[0].type).toBe("value_error");
  });
});

describe("at the same time", () => {
  test("twelve upserts of one document leave exactly one of them, whole", async () => {
    const { path } = freshBank();
    const text = (i: number) => `Shelf ${i} holds jar ${i}. Drawer ${i} holds key ${i}.`;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        owner("POST", `${path}/memories`, { items: [{ content: text(i), document_id: "shelf" }] }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    const { body } = await owner("GET", `${path}/documents/shelf`);
    const won = Number(/Shelf (\d+)/.exec(body.original_text)![1]);
    expect(body.original_text).toBe(text(won));
    const units = (await owner("GET", `${path}/memories/list`)).body.items as { text: string }[];
    expect(units.map((unit) => unit.text).sort()).toEqual([`Drawer ${won} holds key ${won}.`, `Shelf ${won} holds jar ${won}.`]);
  });

  test("twelve appends to one document all arrive, each once", async () => {
    const { path } = freshBank();
    const line = (i: number) => `Visitor ${i} came through gate ${i}.`;
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        owner("POST", `${path}/memories`, { items: [{ content: line(i), document_id: "log", update_mode: "append" }] }),
      ),
    );
    const { body } = await owner("GET", `${path}/documents/log`);
    expect(body.original_text.split("\n").sort()).toEqual(Array.from({ length: 12 }, (_, i) => line(i)).sort());
  });

  test("one mental model id is given once", async () => {
    const { path } = freshBank();
    const make = () => owner("POST", `${path}/mental-models`, { id: "m", name: "M", source_query: "What is known?" });
    const statuses = (await Promise.all(Array.from({ length: 8 }, make))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  test("a bank deleted under load is empty afterwards, whatever the calls on their way were", async () => {
    const { path } = freshBank();
    await owner("PUT", path, {});
    const calls = Array.from({ length: 24 }, (_, i) => [
      owner("POST", `${path}/memories`, { items: [{ content: `Shelf ${i} holds jar ${i}.`, document_id: `d${i % 4}` }] }),
      owner("POST", `${path}/memories/recall`, { query: "Which jar?" }),
      owner("POST", `${path}/directives`, { name: "n", content: "c" }),
    ]).flat();
    const deleted = await owner("DELETE", path);
    expect(deleted.status).toBe(200);
    const answers = await Promise.all(calls);
    for (const { status } of answers) expect([200, 404, 409, 503]).toContain(status);
    // Calls that began after the deletion have made a bank of their own; this one removes it.
    await owner("DELETE", path);
    await eventually("nothing is left", async () => {
      const { body } = await owner("GET", `${path}/stats`);
      return body.total_nodes === 0 && body.total_documents === 0 && body.pending_operations === 0;
    });
    expect((await owner("GET", `${path}/directives`)).body.items).toEqual([]);
  });
});
