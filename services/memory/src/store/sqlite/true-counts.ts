import type { SqliteTx } from "@memory-bank/storage";

/** What counts of a bank must be, counted from the rows that they sum up; `?1` is the bank's number. */

/** Rows of `counters`. An entity opens one derived link to each of its second to eleventh live units (contract 3.6). */
export const trueCounters = `
  SELECT 'node:' || type AS name, count(*) AS value FROM units WHERE bank_no = ?1 AND live = 1 GROUP BY type
  UNION ALL
  SELECT 'documents', count(*) FROM documents WHERE bank_no = ?1 HAVING count(*) > 0
  UNION ALL
  SELECT 'link:' || s.type || ':' || l.type, count(*) FROM units s JOIN links l ON l.from_no = s.unit_no JOIN units t ON t.unit_no = l.to_no
    WHERE s.bank_no = ?1 AND s.live = 1 AND t.live = 1 GROUP BY s.type, l.type
  UNION ALL
  SELECT 'link:' || type || ':entity', count(*) FROM (
    SELECT ue.type, row_number() OVER (PARTITION BY ue.entity_no ORDER BY ue.created_us, ue.unit_id) AS place
      FROM entities e JOIN unit_entities ue ON ue.entity_no = e.entity_no WHERE e.bank_no = ?1 AND ue.live = 1
  ) WHERE place BETWEEN 2 AND 11 GROUP BY type`;

/** Rows of `tag_counts`. */
export const trueTagCounts = `
  SELECT tag.value AS name, count(*) AS value FROM units u, json_each(u.tags) tag WHERE u.bank_no = ?1 AND u.live = 1 GROUP BY tag.value`;

/** Rows of `cooccurrences`. */
export const trueCooccurrences = `
  SELECT a.entity_no AS low_no, b.entity_no AS high_no, count(*) AS count, max(a.event_us) AS last_us
    FROM entities e JOIN unit_entities a ON a.entity_no = e.entity_no JOIN unit_entities b ON b.unit_no = a.unit_no AND b.entity_no > a.entity_no
    WHERE e.bank_no = ?1 AND a.live = 1 AND b.live = 1 GROUP BY a.entity_no, b.entity_no`;

/** The counted columns of an entity. */
export interface EntityCounts {
  readonly entityNo: number;
  readonly entityId: string;
  readonly mentionCount: number;
  readonly firstSeenUs: number | null;
  readonly lastSeenUs: number | null;
  /** Derived links by fact type, as canonical JSON. */
  readonly links: string;
}

export function storedEntityCounts(tx: SqliteTx, bankNo: number): EntityCounts[] {
  const rows = tx.all<{
    entity_no: number;
    entity_id: string;
    mention_count: number;
    first_seen_us: number | null;
    last_seen_us: number | null;
    links: string;
  }>(
    "SELECT entity_no, entity_id, mention_count, first_seen_us, last_seen_us, links FROM entities WHERE bank_no = ? ORDER BY entity_no",
    [bankNo],
  );
  return rows.map((row) => ({
    entityNo: row.entity_no,
    entityId: row.entity_id,
    mentionCount: row.mention_count,
    firstSeenUs: row.first_seen_us,
    lastSeenUs: row.last_seen_us,
    links: canonical(JSON.parse(row.links)),
  }));
}

/** The same entities with what their live mentions come to. */
export function trueEntityCounts(tx: SqliteTx, bankNo: number, stored: readonly EntityCounts[]): EntityCounts[] {
  const mentions = tx.all<{ entity_no: number; n: number; first_us: number | null; last_us: number | null }>(
    `SELECT e.entity_no, count(*) AS n, min(ue.event_us) AS first_us, max(ue.event_us) AS last_us
       FROM entities e JOIN unit_entities ue ON ue.entity_no = e.entity_no WHERE e.bank_no = ? AND ue.live = 1 GROUP BY e.entity_no`,
    [bankNo],
  );
  const links = tx.all<{ entity_no: number; type: string; n: number }>(
    `SELECT entity_no, type, count(*) AS n FROM (
       SELECT e.entity_no, ue.type, row_number() OVER (PARTITION BY e.entity_no ORDER BY ue.created_us, ue.unit_id) AS place
         FROM entities e JOIN unit_entities ue ON ue.entity_no = e.entity_no WHERE e.bank_no = ? AND ue.live = 1
     ) WHERE place BETWEEN 2 AND 11 GROUP BY entity_no, type`,
    [bankNo],
  );
  const mentionsOf = new Map(mentions.map((row) => [row.entity_no, row]));
  const linksOf = new Map<number, Record<string, number>>();
  for (const { entity_no, type, n } of links) linksOf.set(entity_no, { ...linksOf.get(entity_no), [type]: n });
  return stored.map(({ entityNo, entityId }) => {
    const counted = mentionsOf.get(entityNo);
    return {
      entityNo,
      entityId,
      mentionCount: counted?.n ?? 0,
      firstSeenUs: counted?.first_us ?? null,
      lastSeenUs: counted?.last_us ?? null,
      links: canonical(linksOf.get(entityNo) ?? {}),
    };
  });
}

function canonical(counts: Readonly<Record<string, number>>): string {
  const kept = Object.entries(counts).filter(([, n]) => n !== 0);
  return JSON.stringify(Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1))));
}
