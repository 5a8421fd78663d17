import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type TagRouteDeps, tagRoutes } from "./routes.ts";

test("tags come from memories, or from mental models when those are asked for", async () => {
  const memory = fakeClient<TagRouteDeps["memory"]>({ listTags: { tags: [{ tag: "user:maria", count: 42 }], total: 1 } });
  const reflect = fakeClient<TagRouteDeps["reflect"]>({ listMentalModelTags: { tags: [], total: 0 } });
  await using gateway = await testGateway((app) => tagRoutes(app, { memory: memory.client, reflect: reflect.client }));
  const get = (query: string) => gateway.app.inject({ url: `/v1/default/banks/one/tags${query}`, headers: asOwner });

  expect((await get("?q=")).json()).toEqual({ items: [{ tag: "user:maria", count: 42 }], total: 1, limit: 100, offset: 0 });
  expect((await get("?q=user:*&source=mental_models&limit=1001&offset=2")).json()).toMatchObject({
    items: [],
    limit: 1000,
    offset: 2,
  });
  expect(memory.calls).toEqual([["listTags", { bankId: "one", limit: 100, offset: 0 }]]);
  expect(reflect.calls).toEqual([["listMentalModelTags", { bankId: "one", pattern: "user:*", limit: 1000, offset: 2 }]]);

  const refused = await get("?source=documents");
  expect([refused.statusCode, refused.json().detail[0]]).toMatchObject([
    422,
    { type: "literal_error", loc: ["query", "source"], ctx: { expected: "'memories' or 'mental_models'" } },
  ]);
});
