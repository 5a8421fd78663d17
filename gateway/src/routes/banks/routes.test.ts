import type { Bank } from "@memory-bank/proto/bank/v1/bank";
import { describe, expect, test } from "vitest";
import { failing, fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type BankRouteDeps, bankRoutes } from "./routes.ts";

const bankOf = (bankId: string, parts: Partial<Bank> = {}): Bank => ({
  bankId,
  bankUid: `uid-${bankId}`,
  name: bankId,
  mission: "",
  disposition: { skepticism: 3, literalism: 3, empathy: 3 },
  createdAtUs: 1_000_000,
  updatedAtUs: 2_000_000,
  ...parts,
});

async function gatewayWith(bankAnswers: Partial<Record<keyof BankRouteDeps["bank"], unknown>>, activity: unknown[] = []) {
  const bank = fakeClient<BankRouteDeps["bank"]>(bankAnswers);
  const memory = fakeClient<BankRouteDeps["memory"]>({ listBankActivity: { banks: activity } });
  const gateway = await testGateway((app) => bankRoutes(app, { bank: bank.client, memory: memory.client }));
  const send = async (method: "GET" | "PUT" | "PATCH" | "POST" | "DELETE", path: string, payload?: unknown) => {
    const body = payload === undefined ? {} : { payload: JSON.stringify(payload) };
    return gateway.app.inject({ method, url: `/v1/default/banks${path}`, headers: asOwner, ...body });
  };
  return { ...gateway, send, calls: bank.calls };
}

describe("writing a bank", () => {
  test("sends the members that were given, traits and mission by precedence", async () => {
    await using gateway = await gatewayWith({ putBank: bankOf("one", { mission: "m" }) });
    const response = await gateway.send("PUT", "/one", {
      name: "One",
      mission: "second",
      reflect_mission: "first",
      background: "third",
      disposition: { skepticism: 1, literalism: 2, empathy: 5 },
      disposition_empathy: 4,
      retain_chunk_size: "500",
      enable_observations: null,
    });
    expect(response.json()).toEqual({
      bank_id: "one",
      name: "one",
      mission: "m",
      disposition: { skepticism: 3, literalism: 3, empathy: 3 },
      background: "m",
    });
    expect(gateway.calls).toEqual([
      [
        "putBank",
        {
          bankId: "one",
          name: "One",
          mission: "first",
          overrides: {
            disposition_skepticism: 1,
            disposition_literalism: 2,
            disposition_empathy: 4,
            retain_chunk_size: 500,
          },
        },
      ],
    ]);
  });

  test("of nothing is fine; of no body, half a disposition or a trait out of bounds is not", async () => {
    await using gateway = await gatewayWith({ patchBank: bankOf("one") });
    expect((await gateway.send("PATCH", "/one", {})).statusCode).toBe(200);
    expect(gateway.calls).toEqual([["patchBank", { bankId: "one", overrides: {} }]]);
    const typesOf = async (payload?: unknown) =>
      (await gateway.send("PATCH", "/one", payload))
        .json()
        .detail.map((one: { type: string; loc: unknown }) => [one.type, one.loc]);
    expect(await typesOf()).toEqual([["missing", ["body"]]]);
    expect(await typesOf({ disposition: { skepticism: 6 } })).toEqual([
      ["less_than_equal", ["body", "disposition", "skepticism"]],
      ["missing", ["body", "disposition", "literalism"]],
      ["missing", ["body", "disposition", "empathy"]],
    ]);
  });

  test("of an unknown bank is 404 with the service's text", async () => {
    await using gateway = await gatewayWith({ patchBank: failing("not_found", "BANK_NOT_FOUND", "Bank 'one' not found") });
    const response = await gateway.send("PATCH", "/one", {});
    expect([response.statusCode, response.json()]).toEqual([404, { detail: "Bank 'one' not found" }]);
  });
});

describe("the list of banks", () => {
  const banks = [bankOf("a"), bankOf("b"), bankOf("c"), bankOf("d")];
  const activity = [
    { bankId: "b", bankUid: "uid-b", factCount: 2, lastWriteAtUs: 5_000_000, lastDocumentAtUs: 4_000_000 },
    { bankId: "d", bankUid: "uid-d", factCount: 1, lastWriteAtUs: 9_000_000 },
    // Of an earlier bank under the same id, which was deleted.
    { bankId: "a", bankUid: "uid-older", factCount: 7, lastWriteAtUs: 99_000_000 },
  ];

  test("has the last written first, those never written last by id, and pages after that", async () => {
    await using gateway = await gatewayWith({ listBanks: { banks, total: 4 } }, activity);
    const answer = (await gateway.send("GET", "")).json();
    expect(answer.banks.map((bank: { bank_id: string }) => bank.bank_id)).toEqual(["d", "b", "a", "c"]);
    expect(answer.banks[1]).toEqual({
      bank_id: "b",
      name: "b",
      disposition: { skepticism: 3, literalism: 3, empathy: 3 },
      mission: "",
      created_at: "1970-01-01T00:00:01.000000Z",
      updated_at: "1970-01-01T00:00:02.000000Z",
      fact_count: 2,
      last_document_at: "1970-01-01T00:00:04.000000Z",
      last_write_at: "1970-01-01T00:00:05.000000Z",
    });
    expect(answer.banks[2]).toMatchObject({ fact_count: 0, last_write_at: null });
    const page = (await gateway.send("GET", "?limit=2&offset=1&q=x")).json();
    expect(page).toMatchObject({ total: 4, limit: 2, offset: 1, banks: [{ bank_id: "b" }, { bank_id: "a" }] });
    expect(gateway.calls.at(-1)).toEqual(["listBanks", { query: "x", limit: 0, offset: 0 }]);
  });

  test("reads on while the service has more", async () => {
    const listBanks = ({ offset }: { offset: number }) => ({ banks: banks.slice(offset, offset + 3), total: 4 });
    await using gateway = await gatewayWith({ listBanks });
    expect((await gateway.send("GET", "")).json()).toMatchObject({ total: 4, banks: { length: 4 } });
    expect(gateway.calls.map(([, { offset }]) => offset)).toEqual([0, 3]);
  });

  test("applies a limit of at most 1000 and takes 0", async () => {
    await using gateway = await gatewayWith({ listBanks: { banks, total: 4 } });
    expect((await gateway.send("GET", "?limit=5000")).json().limit).toBe(1000);
    expect((await gateway.send("GET", "?limit=0")).json()).toMatchObject({ banks: [], total: 4, limit: 0 });
  });
});

test("deleting answers how much went, also for a bank that was not there", async () => {
  await using gateway = await gatewayWith({
    deleteBank: ({ bankId }: { bankId: string }) => ({ existed: bankId === "one", deletedCount: 3 }),
  });
  expect((await gateway.send("DELETE", "/one")).json()).toEqual({
    success: true,
    message: "Bank 'one' deleted",
    deleted_count: 3,
  });
  expect((await gateway.send("DELETE", "/two")).json().message).toBe("Bank 'two' did not exist");
});

test("background is added to the mission once, and makes the bank", async () => {
  const writes = (existing: unknown) =>
    gatewayWith({ getBank: existing, putBank: ({ mission }: { mission: string }) => bankOf("one", { mission }) });
  const missionAfter = async (existing: unknown, content: string) => {
    await using gateway = await writes(existing);
    return (await gateway.send("POST", "/one/background", { content })).json().mission;
  };
  expect(await missionAfter(bankOf("one", { mission: "Help." }), " Be kind. ")).toBe("Help.\nBe kind.");
  expect(await missionAfter(bankOf("one", { mission: "Help.\nBe kind." }), "Be kind.")).toBe("Help.\nBe kind.");
  expect(await missionAfter(failing("not_found", "BANK_NOT_FOUND", "none"), "Be kind.")).toBe("Be kind.");
});
