import { expect, test } from "vitest";
import { createContractCheck, type Exchange, type OpenApiDocument } from "./openapi.ts";

const thing = {
  type: "object",
  properties: { id: { type: "string" }, made: { type: "string", format: "date-time" }, free: { type: "object" } },
  required: ["id"],
};
const operation = (operationId: string, schema: object) => ({
  operationId,
  summary: operationId,
  tags: [],
  responses: { 200: { content: { "application/json": { schema } } } },
});
const document: OpenApiDocument = {
  openapi: "3.1.0",
  paths: {
    "/things/{id}": { get: operation("getThing", { $ref: "#/components/schemas/Thing" }) },
    "/things/all": { get: operation("listThings", { type: "array", items: { $ref: "#/components/schemas/Thing" } }) },
  },
  components: { schemas: { Thing: thing } },
};
const check = createContractCheck(document);

const exchange = (body: unknown, changes: Partial<Exchange> = {}): Exchange => ({
  method: "GET",
  path: "/things/1?q=x",
  status: 200,
  headers: new Headers({ "content-type": "application/json; charset=utf-8", "x-request-id": "r" }),
  text: JSON.stringify(body),
  ...changes,
});

test("an answer as described passes, and fixed words win over parameters", () => {
  check(exchange({ id: "1", made: "2026-03-04T12:00:00.123456Z", free: { any: 1 } }));
  check(exchange([{ id: "1" }], { path: "/things/all" }));
  check(exchange({ detail: "Not Found" }, { path: "/nowhere", status: 404 }));
});

test.each<[string, Exchange, RegExp]>([
  ["a member that is missing", exchange({}), /must have required property 'id'/],
  ["a member that is not described", exchange({ id: "1", more: 1 }), /must NOT have additional properties/],
  ["an instant of another form", exchange({ id: "1", made: "2026-03-04T12:00:00Z" }), /must match format "date-time"/],
  ["a status that is not documented", exchange({ id: "1" }, { status: 418 }), /getThing does not document/],
  [
    "another media type",
    exchange({ id: "1" }, { headers: new Headers({ "x-request-id": "r" }) }),
    /instead of application\/json/,
  ],
  ["no request id", exchange({ id: "1" }, { headers: new Headers() }), /without X-Request-Id/],
  ["a path that is not described", exchange({}, { path: "/nowhere" }), /not in the document/],
])("%s is refused", (_, answer, why) => {
  expect(() => check(answer)).toThrow(why);
});
