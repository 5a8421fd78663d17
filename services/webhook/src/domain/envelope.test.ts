import { expect, test } from "vitest";
import { deliveryId } from "./delivery-id.ts";
import { envelopeBytes, instantText } from "./envelope.ts";

test("an envelope has the members of the contract in their order, with a time of six digits", () => {
  const bytes = envelopeBytes({
    event: "consolidation.completed",
    bankId: "support-bot",
    operationId: "5f0c7a9e-9f63-4b5b-b6b6-2f6d5d0c7e11",
    status: "completed",
    timestampUs: Date.UTC(2026, 2, 4, 12) * 1_000 + 7,
    data: { observations_created: 2, observations_updated: 1, observations_deleted: 0 },
  });
  expect(new TextDecoder().decode(bytes)).toBe(
    '{"event":"consolidation.completed","bank_id":"support-bot","operation_id":"5f0c7a9e-9f63-4b5b-b6b6-2f6d5d0c7e11",' +
      '"status":"completed","timestamp":"2026-03-04T12:00:00.000007Z","data":{"observations_created":2,"observations_updated":1,"observations_deleted":0}}',
  );
});

test.each([
  [0, "1970-01-01T00:00:00.000000Z"],
  [-1, "1969-12-31T23:59:59.999999Z"],
  [1_790_000_000_123_456, "2026-09-21T14:13:20.123456Z"],
])("%d is %s", (us, text) => {
  expect(instantText(us)).toBe(text);
});

test("a delivery's id depends on event and webhook alone, and looks like every other id", () => {
  expect(deliveryId("event\u00000", "webhook")).toBe(deliveryId("event\u00000", "webhook"));
  const ids = new Set([
    deliveryId("a", "b"),
    deliveryId("a", "c"),
    deliveryId("b", "b"),
    deliveryId("ab", ""),
    deliveryId("", "ab"),
  ]);
  expect(ids.size).toBe(5);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
