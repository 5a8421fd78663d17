import type { SqliteTx } from "@memory-bank/storage";
import type { FactFamily, FactType, RankingRecord } from "../../domain/fact.ts";
import type { Unit, UnitEntityRef, UnitFeatures } from "../../domain/unit.ts";
import type { IndexChanges, UnitSummary } from "../../memory-store.ts";
import { findBank } from "./bank-rows.ts";

/** `?1` of these texts is a JSON array of values: one constant text serves lists of any length. */
const inList = (column: string) => `${column} IN (SELECT value FROM json_each(?1))`;

export interface UnitDbRow {
  readonly unit_no: number;
  readonly unit_id: string;
  readonly type: string;
  readonly live: number;
  readonly text: string;
  readonly context: string;
  readonly document_id: string | null;
  readonly chunk_id: string | null;
  readonly author: string | null;
  readonly subject: string | null;
  readonly mentioned_us: number | null;
  readonly occurred_start_us: number | null;
  readonly occurred_end_us: number | null;
  readonly tags: string;
  readonly metadata: string;
  readonly observation_scopes: string | null;
  readonly token_count: number;
  readonly proof_count: number;
  readonly consolidated_us: number | null;
  readonly consolidation_failed_us: number | null;
  readonly invalidation_reason: string | null;
  readonly invalidated_us: number | null;
  readonly edited_us: number | null;
  readonly created_us: number;
  readonly updated_us: number;
}

/** Completes unit rows with entities, sources and supersessions, in the order of the rows. */
export function hydrateUnits(tx: SqliteTx, rows: readonly UnitDbRow[]): Unit[] {
  const unitNos = JSON.stringify(rows.map((row) => row.unit_no));
  const entities = group(
    tx.all<{ unit_no: number; entity_id: string; name: string; kind: string }>(
      `SELECT ue.unit_no, e.entity_id, e.name, e.kind FROM unit_entities ue JOIN entities e USING (entity_no) WHERE ${inList("ue.unit_no")} ORDER BY e.name`,
      [unitNos],
    ),
    ({ entity_id, name, kind }): UnitEntityRef => ({ entityId: entity_id, name, kind }),
  );
  const sources = group(
    tx.all<{ unit_no: number; source_id: string }>(
      `SELECT os.observation_no AS unit_no, u.unit_id AS source_id FROM observation_sources os JOIN units u ON u.unit_no = os.source_no
         WHERE ${inList("os.observation_no")} ORDER BY u.mentioned_us DESC, u.unit_id`,
      [unitNos],
    ),
    (row) => row.source_id,
  );
  const winners = group(
    tx.all<{ unit_no: number; by_id: string }>(
      `SELECT s.unit_no, u.unit_id AS by_id FROM supersessions s JOIN units u ON u.unit_no = s.by_no WHERE ${inList("s.unit_no")} ORDER BY u.unit_id`,
      [unitNos],
    ),
    (row) => row.by_id,
  );
  return rows.map((row) => ({
    unitId: row.unit_id,
    type: row.type as FactType,
    state: row.live ? "valid" : "invalidated",
    text: row.text,
    context: row.context,
    documentId: row.document_id ?? undefined,
    chunkId: row.chunk_id ?? undefined,
    author: row.author ?? undefined,
    subject: row.subject ?? undefined,
    mentionedAtUs: row.mentioned_us ?? undefined,
    occurredStartUs: row.occurred_start_us ?? undefined,
    occurredEndUs: row.occurred_end_us ?? undefined,
    tags: JSON.parse(row.tags),
    metadata: JSON.parse(row.metadata),
    observationScopes: row.observation_scopes === null ? undefined : JSON.parse(row.observation_scopes),
    tokenCount: row.token_count,
    proofCount: row.proof_count,
    entities: entities.get(row.unit_no) ?? [],
    sourceUnitIds: sources.get(row.unit_no) ?? [],
    supersededBy: winners.get(row.unit_no) ?? [],
    consolidatedAtUs: row.consolidated_us ?? undefined,
    consolidationFailedAtUs: row.consolidation_failed_us ?? undefined,
    invalidationReason: row.invalidation_reason ?? undefined,
    invalidatedAtUs: row.invalidated_us ?? undefined,
    editedAtUs: row.edited_us ?? undefined,
    createdAtUs: row.created_us,
    updatedAtUs: row.updated_us,
  }));
}

/** Live units by id, in the order of the ids. */
export function liveUnits(tx: SqliteTx, bankNo: number, unitIds: readonly string[]): Unit[] {
  const rows = tx.all(`SELECT * FROM units WHERE ${inList("unit_id")} AND bank_no = ?2 AND live = 1`, [
    JSON.stringify(unitIds),
    bankNo,
  ]);
  const byId = new Map(hydrateUnits(tx, rows as unknown as UnitDbRow[]).map((unit) => [unit.unitId, unit]));
  return unitIds.flatMap((unitId) => byId.get(unitId) ?? []);
}

export function summaries(tx: SqliteTx, bankNo: number, unitIds: readonly string[]): UnitSummary[] {
  const rows = tx.all<{
    unit_no: number;
    unit_id: string;
    family: string;
    text: string;
    author: string | null;
    event_us: number | null;
    document_id: string | null;
    tags: string;
  }>(
    `SELECT unit_no, unit_id, family, text, author, event_us, document_id, tags FROM units WHERE ${inList("unit_id")} AND bank_no = ?2 AND live = 1`,
    [JSON.stringify(unitIds), bankNo],
  );
  const names = group(
    tx.all<{ unit_no: number; name: string }>(
      `SELECT ue.unit_no, e.name FROM unit_entities ue JOIN entities e USING (entity_no) WHERE ${inList("ue.unit_no")}`,
      [JSON.stringify(rows.map((row) => row.unit_no))],
    ),
    (row) => row.name,
  );
  return rows.map((row) => ({
    unitId: row.unit_id,
    family: row.family as FactFamily,
    text: row.text,
    author: row.author ?? undefined,
    eventUs: row.event_us ?? undefined,
    documentId: row.document_id ?? undefined,
    tags: JSON.parse(row.tags),
    entityNames: names.get(row.unit_no) ?? [],
  }));
}

/** What a recall index at `sinceSeq` lacks: the changed live units and the removals, or the whole bank. */
export function changesSince(tx: SqliteTx, bankUid: string, sinceSeq: number): IndexChanges {
  const bank = findBank(tx, bankUid);
  if (!bank) return { seq: 0, isComplete: true, upserts: [], removedUnitIds: [] };
  const isComplete = sinceSeq === 0 || sinceSeq < bank.removalsForgottenSeq;
  const since = isComplete ? 0 : sinceSeq;
  const rows = tx.all("SELECT * FROM units WHERE bank_no = ? AND changed_seq > ? AND live = 1 ORDER BY unit_no", [
    bank.bankNo,
    since,
  ]);
  const removed = isComplete
    ? []
    : tx.all<{ unit_id: string }>("SELECT DISTINCT unit_id FROM removed_units WHERE bank_no = ? AND seq > ?", [
        bank.bankNo,
        since,
      ]);
  const upserts = rankingRecords(tx, rows as unknown as (UnitDbRow & RankingColumns)[]);
  const upserted = new Set(upserts.map((record) => record.unitId));
  return {
    seq: bank.seq,
    isComplete,
    upserts,
    // A unit that was taken out and brought back is not gone.
    removedUnitIds: removed.map((row) => row.unit_id).filter((unitId) => !upserted.has(unitId)),
  };
}

interface RankingColumns {
  readonly session_id: string;
  readonly passage: number;
  readonly sentence_index: number;
  readonly features: string;
}

function rankingRecords(tx: SqliteTx, rows: readonly (UnitDbRow & RankingColumns)[]): RankingRecord[] {
  return hydrateUnits(tx, rows).map((unit, i) => {
    const row = rows[i]!;
    const features = JSON.parse(row.features) as UnitFeatures;
    return {
      unitId: unit.unitId,
      type: unit.type,
      text: unit.text,
      context: unit.context,
      author: unit.author,
      subject: unit.subject,
      documentId: unit.documentId,
      sessionId: row.session_id,
      passage: row.passage,
      sentenceIndex: row.sentence_index,
      entityIds: unit.entities.map((entity) => entity.entityId),
      entityNames: unit.entities.map((entity) => entity.name),
      tags: unit.tags,
      intervals: features.intervals,
      flags: features.flags,
      occurredStartUs: unit.occurredStartUs,
      occurredEndUs: unit.occurredEndUs,
      mentionedAtUs: unit.mentionedAtUs,
      createdAtUs: unit.createdAtUs,
      proofCount: unit.proofCount,
      pairNorm: features.pairNorm,
      supersededBy: unit.supersededBy,
      sourceUnitIds: unit.sourceUnitIds,
      chunkId: unit.chunkId,
      metadata: unit.metadata,
      tokenCount: unit.tokenCount,
    };
  });
}

function group<R extends { unit_no: number }, T>(rows: readonly R[], value: (row: R) => T): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const members = groups.get(row.unit_no);
    if (members) members.push(value(row));
    else groups.set(row.unit_no, [value(row)]);
  }
  return groups;
}
