/** Records without what they belong to, as SQL: `?1` the bank's number, `?2` how many rows at most; each row is one line of text. */

interface FaultQuery {
  readonly part: string;
  readonly sql: string;
}

const familySql = "CASE WHEN u.type IN ('experience', 'observation') THEN u.type ELSE 'world' END";

export const faultQueries: readonly FaultQuery[] = [
  {
    part: "documents",
    sql: `SELECT 'chunk ' || c.chunk_id || ' belongs to no document' AS text FROM chunks c
      WHERE c.bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.doc_no = c.doc_no AND d.bank_no = ?1) LIMIT ?2`,
  },
  {
    part: "documents",
    sql: `SELECT 'document ' || d.document_id || ' has ' || count(*) || ' chunks, the last of them number ' || (max(c.chunk_index) + 1) AS text
      FROM documents d JOIN chunks c ON c.doc_no = d.doc_no WHERE d.bank_no = ?1
      GROUP BY d.doc_no HAVING max(c.chunk_index) + 1 <> count(*) OR count(DISTINCT c.chunk_index) <> count(*) LIMIT ?2`,
  },
  {
    part: "units",
    sql: `SELECT 'unit ' || u.unit_id || ' belongs to no document' AS text FROM units u WHERE u.bank_no = ?1 AND u.doc_no IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.doc_no = u.doc_no AND d.bank_no = ?1 AND d.document_id = u.document_id) LIMIT ?2`,
  },
  {
    part: "units",
    sql: `SELECT 'unit ' || u.unit_id || ' belongs to no chunk of its document' AS text FROM units u WHERE u.bank_no = ?1 AND u.chunk_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.chunk_id = u.chunk_id AND c.doc_no = u.doc_no) LIMIT ?2`,
  },
  {
    part: "units",
    sql: `SELECT 'unit ' || u.unit_id || ' is filed under another family, event or commit than its own' AS text
      FROM units u JOIN banks b USING (bank_no) WHERE u.bank_no = ?1 AND (u.family <> ${familySql}
        OR u.event_us IS NOT coalesce(u.occurred_start_us, u.mentioned_us) OR u.changed_seq > b.seq) LIMIT ?2`,
  },
  {
    part: "links",
    sql: `SELECT l.type || ' link of unit ' || f.unit_id || ' leads to no live unit' AS text
      FROM units f JOIN links l ON l.from_no = f.unit_no LEFT JOIN units t ON t.unit_no = l.to_no
      WHERE f.bank_no = ?1 AND (t.unit_no IS NULL OR t.bank_no <> ?1 OR (l.type <> 'caused_by' AND (f.live = 0 OR t.live = 0))) LIMIT ?2`,
  },
  {
    part: "links",
    sql: `SELECT l.type || ' link to unit ' || t.unit_id || ' comes from no unit' AS text FROM units t JOIN links l ON l.to_no = t.unit_no
      WHERE t.bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM units f WHERE f.unit_no = l.from_no) LIMIT ?2`,
  },
  {
    part: "observations",
    sql: `SELECT 'observation ' || o.unit_id || ' has a proof count of ' || o.proof_count || ' and ' || count(s.unit_no) || ' sources' AS text
      FROM units o LEFT JOIN observation_sources os ON os.observation_no = o.unit_no LEFT JOIN units s ON s.unit_no = os.source_no
      WHERE o.bank_no = ?1 AND o.type = 'observation' GROUP BY o.unit_no HAVING count(s.unit_no) <> o.proof_count OR count(s.unit_no) = 0 LIMIT ?2`,
  },
  {
    part: "observations",
    sql: `SELECT 'observation ' || o.unit_id || ' is drawn from a unit that is gone' AS text FROM units o JOIN observation_sources os ON os.observation_no = o.unit_no
      WHERE o.bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM units s WHERE s.unit_no = os.source_no AND s.bank_no = ?1) LIMIT ?2`,
  },
  {
    part: "observations",
    sql: `SELECT 'unit ' || u.unit_id || ' is superseded by one that is gone' AS text FROM units u JOIN supersessions s ON s.unit_no = u.unit_no
      WHERE u.bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM units w WHERE w.unit_no = s.by_no) LIMIT ?2`,
  },
  {
    part: "mentions",
    sql: `SELECT 'entity ' || e.entity_id || ' is mentioned by unit ' || ue.unit_id || ', which is gone or has changed since' AS text
      FROM entities e JOIN unit_entities ue ON ue.entity_no = e.entity_no LEFT JOIN units u ON u.unit_no = ue.unit_no
      WHERE e.bank_no = ?1 AND (u.unit_no IS NULL OR u.bank_no <> ?1 OR u.unit_id <> ue.unit_id OR u.live <> ue.live OR u.created_us <> ue.created_us
        OR (u.live = 1 AND (u.type <> ue.type OR u.event_us IS NOT ue.event_us))) LIMIT ?2`,
  },
  {
    part: "mentions",
    sql: `SELECT 'unit ' || u.unit_id || ' mentions an entity that is gone' AS text FROM units u JOIN unit_entities ue ON ue.unit_no = u.unit_no
      WHERE u.bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.entity_no = ue.entity_no AND e.bank_no = ?1) LIMIT ?2`,
  },
  {
    part: "entities",
    sql: `SELECT 'entity ' || e.entity_id || ' is mentioned by no unit' AS text FROM entities e
      WHERE e.bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM unit_entities ue WHERE ue.entity_no = e.entity_no) LIMIT ?2`,
  },
];
