import { Type } from "typebox";
import { component } from "../../validation/schema.ts";
import { anyObject, count, instantOrNull } from "../answer-parts.ts";

const members = {
  id: Type.String(),
  canonical_name: Type.String(),
  mention_count: count,
  first_seen: instantOrNull,
  last_seen: instantOrNull,
  metadata: anyObject,
};

export const entityListItem = component("EntityListItem", Type.Object(members));

export const entityRecord = component(
  "Entity",
  Type.Object({
    ...members,
    observations: Type.Array(Type.Object({ text: Type.String(), mentioned_at: instantOrNull }), { maxItems: 0 }),
  }),
);

export const entityGraph = Type.Object({
  nodes: Type.Array(
    Type.Object({
      data: Type.Object({ id: Type.String(), label: Type.String(), color: Type.String(), mentionCount: count }),
    }),
  ),
  edges: Type.Array(
    Type.Object({
      data: Type.Object({
        id: Type.String(),
        source: Type.String(),
        target: Type.String(),
        weight: count,
        linkType: Type.String(),
        lineStyle: Type.String(),
        color: Type.String(),
        lastCooccurred: instantOrNull,
      }),
    }),
  ),
  total_entities: count,
  total_edges: count,
  limit: count,
});
