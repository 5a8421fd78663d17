import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { route } from "../route.ts";
import { testGateway } from "../test-gateway.ts";
import { jsonObject, list, listOrString, map, model, nullable, optional, union } from "../validation/containers.ts";
import { bool, dateTime, enumeration, int, num, pathId, str, uuid } from "../validation/scalars.ts";
import { component, named, type Schema } from "../validation/schema.ts";
import { docsPage } from "./docs-page.ts";

type Group = { readonly tags: string[] } | { readonly not: Group };
const group: Schema<Group> = named("TagGroup", () => union({ Leaf: model({ tags: list(str()) }), Not: model({ not: group }) }));
const record = component("Record", Type.Object({ id: Type.String(), note: Type.Union([Type.String(), Type.Null()]) }));

const gatewayWithRoutes = () =>
  testGateway((app) => {
    route(app, {
      method: "POST",
      url: "/v1/default/banks/{bank_id}/records",
      operationId: "createRecord",
      summary: "Create a record",
      tag: "records",
      params: { bank_id: pathId() },
      query: {
        budget: optional(enumeration(["low", "high"]), "low"),
        since: optional(dateTime()),
        ids: optional(list(uuid()), []),
      },
      body: model({
        name: str({ minLength: 1, maxLength: 255, description: "What people call it" }),
        size: optional(int({ ge: 0, cap: 10 }), 5),
        ratio: optional(num({ ge: 0, le: 1 })),
        active: optional(bool(), true),
        secret: optional(nullable(str())),
        labels: optional(map(str())),
        extra: optional(jsonObject()),
        tags: optional(listOrString(str())),
        groups: optional(list(group)),
      }),
      status: 201,
      response: record,
      errors: [409],
      handler: async () => ({ id: "a", note: null }),
    });
    route(app, {
      method: "GET",
      url: "/version",
      operationId: "getVersion",
      summary: "Version",
      tag: "service",
      isPublic: true,
      response: Type.Object({ api_version: Type.String() }),
      handler: async () => ({ api_version: "1" }),
    });
  });

describe("the API description", () => {
  test("needs no key and says what the routes check", async () => {
    await using gateway = await gatewayWithRoutes();
    const response = await gateway.app.inject({ url: "/openapi.json" });
    expect(response.statusCode).toBe(200);
    const document = response.json();
    expect(document.openapi).toBe("3.1.0");
    const operation = document.paths["/v1/default/banks/{bank_id}/records"].post;
    expect(Object.keys(operation.responses)).toEqual(["201", "401", "403", "404", "409", "413", "422", "500", "503"]);
    expect(operation.responses["422"].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/ValidationError",
    });
    expect(operation.responses["201"].content["application/json"].schema).toEqual({ $ref: "#/components/schemas/Record" });
    expect(
      operation.parameters.map((one: { name: string; in: string; required: boolean }) => [one.name, one.in, one.required]),
    ).toEqual([
      ["bank_id", "path", true],
      ["budget", "query", false],
      ["since", "query", false],
      ["ids", "query", false],
    ]);
    const body = operation.requestBody.content["application/json"].schema;
    expect(body.required).toEqual(["name"]);
    expect(body.properties.name).toEqual({ type: "string", minLength: 1, maxLength: 255, description: "What people call it" });
    expect(body.properties.size).toEqual({ anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }], default: 5 });
    expect(body.properties.groups.anyOf[0].items).toEqual({ $ref: "#/components/schemas/TagGroup" });
    expect(document.components.schemas.TagGroup.anyOf[1].properties.not).toEqual({ $ref: "#/components/schemas/TagGroup" });
    expect(document.components.schemas.Record.properties.note.anyOf).toHaveLength(2);
    expect(document.paths["/version"].get.security).toEqual([]);
    expect(Object.keys(document.paths)).toHaveLength(2);
  });

  test("refers only to what it holds, in the words of JSON schema", async () => {
    await using gateway = await gatewayWithRoutes();
    const document = (await gateway.app.inject({ url: "/openapi.json" })).json();
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
    expect(text).not.toContain('"~');
  });

  test("has a page that runs only its own script", async () => {
    await using gateway = await gatewayWithRoutes();
    const response = await gateway.app.inject({ url: "/docs" });
    expect(response.body).toBe(docsPage);
    expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(response.headers["content-security-policy"]).toMatch(/^default-src 'none'; connect-src 'self'; script-src 'sha256-/);
    expect(docsPage).not.toMatch(/(?:src|href)=/);
  });
});

test("a public route needs no key", async () => {
  await using gateway = await gatewayWithRoutes();
  expect((await gateway.app.inject({ url: "/version" })).json()).toEqual({ api_version: "1" });
});
