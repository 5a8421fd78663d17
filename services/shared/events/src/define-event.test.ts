import Type from "typebox";
import { expect, expectTypeOf, test } from "vitest";
import { defineEvent } from "./define-event.ts";

const placed = defineEvent("order.placed.v1", Type.Object({ orderId: Type.String(), count: Type.Integer({ minimum: 1 }) }));

test("an event carries its subject and a checked payload", () => {
  const event = placed.create({ id: "e1", occurredAtUs: 5, payload: { orderId: "o1", count: 2 }, traceparent: undefined });
  expect(event).toEqual({ id: "e1", subject: "order.placed.v1", occurredAtUs: 5, payload: { orderId: "o1", count: 2 } });
  expectTypeOf(event.payload.count).toEqualTypeOf<number>();
  expect(placed.payloadOf(JSON.parse(JSON.stringify(event)))).toEqual({ orderId: "o1", count: 2 });
});

test("a payload that breaks the schema is refused on both sides, one with more members is not", () => {
  const invalid = expect.objectContaining({ code: "internal", reason: "INVALID_EVENT" });
  const base = { id: "e1", occurredAtUs: 5 };
  expect(() => placed.create({ ...base, payload: { orderId: "o1", count: 0 } })).toThrow(invalid);
  expect(() => placed.payloadOf({ ...base, subject: placed.subject, payload: { orderId: 7, count: 1 } })).toThrow(/orderId/);
  const more = { orderId: "o1", count: 1, since: "v1.1" };
  expect(placed.payloadOf({ ...base, subject: placed.subject, payload: more })).toEqual(more);
});
