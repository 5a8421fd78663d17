import { expect, test } from "vitest";
import { type Bank, changeBank, newBank, profileOf, remainsOf } from "./bank.ts";

const noLayers = { global: {}, tenant: {} };
const bank: Bank = newBank({ tenantId: "t", bankId: "support", bankUid: "u1", nowUs: 10 });

test("a new bank is called by its id, without mission, with neutral traits", () => {
  expect(bank).toMatchObject({ name: "support", overrides: {}, createdAtUs: 10, updatedAtUs: 10 });
  expect(profileOf(bank, noLayers)).toEqual({ mission: "", disposition: { skepticism: 3, literalism: 3, empathy: 3 } });
});

test.each([[""], ["a/b"], ["a\u0000"], ["a\nb"], ["x".repeat(256)], ["\ud800"]])("the id %j is refused", (bankId) => {
  expect(() => newBank({ tenantId: "t", bankId, bankUid: "u", nowUs: 1 })).toThrow("bank_id must have 1 to 255 characters");
});

test.each([["x".repeat(255)], ["Ünïcode ✓"], ["a:b.c d"]])("the id %j is fine", (bankId) => {
  expect(newBank({ tenantId: "t", bankId, bankUid: "u", nowUs: 1 }).bankId).toBe(bankId);
});

test("mission and traits come from the nearest layer that sets them; an empty mission is a mission", () => {
  const upper = { global: { disposition_empathy: 1 }, tenant: { reflect_mission: "Help.", disposition_empathy: 2 } };
  expect(profileOf(bank, upper)).toEqual({ mission: "Help.", disposition: { skepticism: 3, literalism: 3, empathy: 2 } });
  const own = changeBank(bank, { overrides: { reflect_mission: "", disposition_empathy: 5 } }, upper, 11);
  expect(profileOf(own, upper)).toEqual({ mission: "", disposition: { skepticism: 3, literalism: 3, empathy: 5 } });
});

test("a change that changes nothing answers the same bank", () => {
  const named = changeBank(bank, { name: "Desk", overrides: { entity_labels: [{ key: "a" }] } }, noLayers, 20);
  expect(named.updatedAtUs).toBe(20);
  expect(changeBank(named, {}, noLayers, 30)).toBe(named);
  expect(changeBank(named, { name: "Desk", overrides: { entity_labels: [{ key: "a" }] } }, noLayers, 30)).toBe(named);
});

test("a name of more than 255 characters is refused", () => {
  expect(() => changeBank(bank, { name: "x".repeat(256) }, noLayers, 20)).toThrow("at most 255");
});

test("a purged bank keeps no text of its users", () => {
  const full: Bank = { ...bank, name: "Secret", overrides: { reflect_mission: "Secret", audit_log_enabled: false } };
  expect(remainsOf(full)).toEqual({ ...bank, overrides: { audit_log_enabled: false } });
});
