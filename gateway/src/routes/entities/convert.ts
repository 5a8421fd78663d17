import type { Entity, EntityGraph } from "@memory-bank/proto/memory/v1/memory";
import { instantTextOrNull } from "../instant-text.ts";

export function entityFromProto({ id, canonicalName, mentionCount, firstSeenUs, lastSeenUs }: Entity) {
  return {
    id,
    canonical_name: canonicalName,
    mention_count: mentionCount,
    first_seen: instantTextOrNull(firstSeenUs),
    last_seen: instantTextOrNull(lastSeenUs),
    metadata: {},
  };
}

/** Colours that existing pictures of the graph use. */
const colors = { severalMentions: "#42a5f5", oneMention: "#90caf9", edge: "#ffd700" };

export function entityGraphFromProto({ nodes, edges }: EntityGraph, limit: number) {
  return {
    nodes: nodes.map(({ id, canonicalName, mentionCount }) => {
      const color = mentionCount > 1 ? colors.severalMentions : colors.oneMention;
      return { data: { id, label: canonicalName, color, mentionCount } };
    }),
    edges: edges.map(({ sourceId, targetId, weight, lastCooccurredUs }) => ({
      data: {
        id: `${sourceId}-${targetId}`,
        source: sourceId,
        target: targetId,
        weight,
        linkType: "cooccurrence",
        lineStyle: "solid",
        color: colors.edge,
        lastCooccurred: instantTextOrNull(lastCooccurredUs),
      },
    })),
    total_entities: nodes.length,
    total_edges: edges.length,
    limit,
  };
}
