import { AppError } from "@memory-bank/errors";
import { appendEvents } from "@memory-bank/events";
import { completeJob, enqueueJobs, type JsonObject } from "@memory-bank/jobs";
import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import { type FactFamily, familyOf } from "../../domain/fact.ts";
import { type BankRef, eventUsOf, type NewDocument } from "../../domain/unit.ts";
import type {
  Committed,
  Consequences,
  ConsolidationCommit,
  MemoryStore,
  ObservationChange,
  ObservationUpdate,
  RetainCommit,
  UnitEdit,
} from "../../memory-store.ts";
import { type BankCommit, beginCommit } from "./bank-rows.ts";
import { openUnitLedger, type UnitLedger, type UnitRow, unitNotFound } from "./unit-writes.ts";

/** Entries kept per observation (contract 4.5). */
const historyEntriesMax = 50;

type Writes = Pick<
  MemoryStore,
  | "commitRetain"
  | "editUnit"
  | "deleteDocument"
  | "retagDocument"
  | "clearUnits"
  | "clearObservations"
  | "commitConsolidation"
  | "recoverFailed"
>;

/** The writing half of the store: every method is one transaction over the bank's rows, its outbox and its jobs. */
export function createWrites(db: SqliteDatabase): Writes {
  /** Runs one commit: begin, change, settle counts, tell others. Nothing is visible unless all of it is. */
  const commit = <T>(
    at: { bank: BankRef; nowUs: number; expectedSeq?: number; wroteDocument?: boolean },
    consequences: Consequences,
    change: (commit: BankCommit, ledger: UnitLedger) => T,
  ): Promise<Committed & { value: T }> =>
    db.write((tx) => {
      const bankCommit = beginCommit(tx, at.bank, at.nowUs, at.expectedSeq);
      const ledger = openUnitLedger(bankCommit);
      const value = change(bankCommit, ledger);
      ledger.finish();
      bankCommit.finish({ wroteDocument: at.wroteDocument ?? false });
      applyConsequences(tx, consequences, bankCommit.seq, at.nowUs);
      return { seq: bankCommit.seq, removedUnitIds: ledger.removedUnitIds, requeuedCount: ledger.requeuedCount, value };
    });

  return {
    commitRetain: (plan) =>
      commit({ ...plan, wroteDocument: plan.documents.length > 0 }, plan, (bankCommit, ledger) =>
        applyRetain(bankCommit, ledger, plan),
      ),

    editUnit: (edit) => commit(edit, edit, (bankCommit, ledger) => applyEdit(bankCommit, ledger, edit)),

    async deleteDocument(bank, documentId, nowUs, consequences) {
      const { value, ...committed } = await commit({ bank, nowUs }, consequences, (bankCommit, ledger) => {
        const document = requireDocument(bankCommit, documentId);
        return removeDocument(bankCommit, ledger, document.docNo);
      });
      return { ...committed, deletedCount: value };
    },

    async retagDocument(bank, documentId, tags, nowUs, consequences) {
      const { value, ...committed } = await commit({ bank, nowUs }, consequences, (bankCommit, ledger) => {
        const { tx } = bankCommit;
        const { docNo } = requireDocument(bankCommit, documentId);
        tx.run("UPDATE documents SET tags = ?, updated_us = ? WHERE doc_no = ?", [JSON.stringify(tags), nowUs, docNo]);
        const units = ledger.rows("doc_no = ? AND type <> 'observation'", [docNo]);
        ledger.removeObservationsOf(units.map((unit) => unit.unitNo));
        for (const unit of units) {
          if (unit.live) {
            for (const tag of unit.tags) bankCommit.countTag(tag, -1);
            for (const tag of tags) bankCommit.countTag(tag, 1);
          }
          tx.run(
            "UPDATE units SET tags = ?, updated_us = ?, changed_seq = ?, consolidated_us = NULL, consolidation_failed_us = NULL WHERE unit_no = ?",
            [JSON.stringify(tags), nowUs, bankCommit.seq, unit.unitNo],
          );
        }
        return units.length;
      });
      return { ...committed, updatedCount: value };
    },

    async clearUnits(bank, family, nowUs, consequences) {
      const { value, ...committed } = await commit({ bank, nowUs }, consequences, (bankCommit, ledger) =>
        clear(bankCommit, ledger, family),
      );
      return { ...committed, deletedCount: value };
    },

    async clearObservations(bank, sourceUnitId, nowUs, consequences) {
      const { value, ...committed } = await commit({ bank, nowUs }, consequences, (bankCommit, ledger) => {
        if (sourceUnitId === undefined) return clear(bankCommit, ledger, "observation");
        const source = ledger.row(sourceUnitId);
        if (!source) throw unitNotFound(sourceUnitId);
        return ledger.removeObservationsOf([source.unitNo]);
      });
      return { ...committed, deletedCount: value };
    },

    commitConsolidation: (plan) => commit(plan, plan, (bankCommit, ledger) => applyConsolidation(bankCommit, ledger, plan)),

    async recoverFailed(bank, nowUs, consequences) {
      const { value } = await commit(
        { bank, nowUs },
        consequences,
        ({ tx, bankNo }) =>
          tx.run(
            "UPDATE units SET consolidation_failed_us = NULL WHERE bank_no = ? AND live = 1 AND consolidation_failed_us IS NOT NULL",
            [bankNo],
          ).changes,
      );
      return { retriedCount: value };
    },
  };
}

/** Events learn the commit that they report, so that readers may wait for it. */
function applyConsequences(tx: SqliteTx, { events, jobs, completes }: Consequences, seq: number, nowUs: number): void {
  const numbered = events.map((event) => ({ ...event, payload: { ...(event.payload as object), commitSeq: seq } }));
  if (numbered.length > 0) appendEvents(tx, numbered);
  if (jobs.length > 0) enqueueJobs(tx, jobs, nowUs);
  if (completes) completeJob(tx, completes.claim, completes.result as JsonObject, nowUs);
}

function applyRetain(commit: BankCommit, ledger: UnitLedger, plan: RetainCommit): void {
  const { tx, bankNo } = commit;
  const docNos = new Map<string, number>();
  for (const document of plan.documents) docNos.set(document.documentId, writeDocument(commit, ledger, document));
  for (const { chunkId, documentId, chunkIndex, text } of plan.chunks) {
    tx.run("INSERT INTO chunks (chunk_id, doc_no, bank_no, chunk_index, text, created_us) VALUES (?, ?, ?, ?, ?, ?)", [
      chunkId,
      docNos.get(documentId)!,
      bankNo,
      chunkIndex,
      text,
      plan.nowUs,
    ]);
  }
  ledger.entities.create(plan.entities);
  for (const { entityId, kind } of plan.entityKinds) {
    tx.run("UPDATE entities SET kind = ? WHERE entity_id = ? AND bank_no = ? AND kind IN ('CONCEPT', 'OTHER')", [
      kind,
      entityId,
      bankNo,
    ]);
  }
  for (const unit of plan.units) ledger.insert(unit, unit.documentId === undefined ? undefined : docNos.get(unit.documentId));
  ledger.link(plan.links);
}

function writeDocument(commit: BankCommit, ledger: UnitLedger, document: NewDocument): number {
  const { tx, bankNo, nowUs } = commit;
  const existing = findDocument(commit, document.documentId);
  if (existing) removeDocument(commit, ledger, existing.docNo);
  commit.count("documents", 1);
  return tx.run(
    `INSERT INTO documents (bank_no, document_id, original_text, text_length, content_hash, tags, metadata, retain_params, created_us, updated_us)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      bankNo,
      document.documentId,
      document.originalText ?? null,
      document.textLength,
      document.contentHash,
      JSON.stringify(document.tags),
      JSON.stringify(document.metadata),
      JSON.stringify(document.retainParams),
      existing?.createdUs ?? nowUs,
      nowUs,
    ],
  ).lastInsertRowid;
}

function findDocument({ tx, bankNo }: BankCommit, documentId: string): { docNo: number; createdUs: number } | undefined {
  const row = tx.get<{ doc_no: number; created_us: number }>(
    "SELECT doc_no, created_us FROM documents WHERE bank_no = ? AND document_id = ?",
    [bankNo, documentId],
  );
  return row && { docNo: row.doc_no, createdUs: row.created_us };
}

function requireDocument(commit: BankCommit, documentId: string): { docNo: number } {
  const document = findDocument(commit, documentId);
  if (!document) throw new AppError("not_found", "DOCUMENT_NOT_FOUND", "Document not found");
  return document;
}

/** Deletes a document, its chunks and its units; answers how many raw units went. */
function removeDocument(commit: BankCommit, ledger: UnitLedger, docNo: number): number {
  const units = ledger.rows("doc_no = ?", [docNo]);
  ledger.remove(units);
  commit.tx.run("DELETE FROM chunks WHERE doc_no = ?", [docNo]);
  commit.tx.run("DELETE FROM documents WHERE doc_no = ?", [docNo]);
  commit.count("documents", -1);
  return units.length;
}

function clear(commit: BankCommit, ledger: UnitLedger, family: FactFamily | undefined): number {
  const { tx, bankNo } = commit;
  const before = ledger.removedUnitIds.length;
  if (family === "observation") {
    const observations = ledger.rows("bank_no = ? AND type = 'observation'", [bankNo]);
    for (const { unitNo } of observations) {
      tx.run(
        `UPDATE units SET consolidated_us = NULL, consolidation_failed_us = NULL
           WHERE unit_no IN (SELECT source_no FROM observation_sources WHERE observation_no = ?)`,
        [unitNo],
      );
    }
    // A clearing asks for everything to be looked at again, also what led to no observation.
    tx.run(
      "UPDATE units SET consolidated_us = NULL, consolidation_failed_us = NULL WHERE bank_no = ? AND type <> 'observation'",
      [bankNo],
    );
    ledger.remove(observations);
  } else if (family) {
    ledger.remove(ledger.rows("bank_no = ? AND family = ?", [bankNo, family]));
  } else {
    ledger.remove(ledger.rows("bank_no = ? AND type <> 'observation'", [bankNo]));
    ledger.remove(ledger.rows("bank_no = ?", [bankNo]));
    tx.run("DELETE FROM chunks WHERE bank_no = ?", [bankNo]);
    const { changes } = tx.run("DELETE FROM documents WHERE bank_no = ?", [bankNo]);
    commit.count("documents", -changes);
  }
  return ledger.removedUnitIds.length - before;
}

function applyEdit(commit: BankCommit, ledger: UnitLedger, edit: UnitEdit): void {
  const { tx, seq, nowUs } = commit;
  const row = ledger.row(edit.unitId);
  if (!row) throw unitNotFound(edit.unitId);
  if (row.type === "observation")
    throw new AppError("invalid_argument", "OBSERVATION_IMMUTABLE", "Observations cannot be edited");
  const isLive = edit.state === undefined ? row.live : edit.state === "valid";

  ledger.removeObservationsOf([row.unitNo]);
  if (row.live) ledger.deactivate(row);
  writeEditedColumns(commit, edit, row);
  if (edit.entities) {
    ledger.entities.create(edit.entities.created);
    ledger.entities.replaceKept(row, edit.entities.entityIds.map(ledger.entities.numberOf));
  }
  const changed = ledger.row(edit.unitId)!;
  if (isLive) {
    ledger.activate(changed, edit.searchTokens ?? []);
    ledger.link(edit.links ?? []);
  }
  tx.run(
    `UPDATE units SET updated_us = ?1, changed_seq = ?2, consolidated_us = NULL, consolidation_failed_us = NULL,
       edited_us = CASE WHEN ?3 THEN ?1 ELSE edited_us END,
       invalidated_us = CASE WHEN live = 1 THEN NULL WHEN ?4 THEN ?1 ELSE invalidated_us END,
       invalidation_reason = CASE WHEN live = 1 THEN NULL WHEN ?4 THEN ?5 ELSE invalidation_reason END WHERE unit_no = ?6`,
    [nowUs, seq, changesContent(edit) ? 1 : 0, edit.state === "invalidated" ? 1 : 0, edit.reason ?? null, row.unitNo],
  );
}

const changesContent = ({ text, context, type, occurredStartUs, occurredEndUs, entities }: UnitEdit) =>
  [text, context, type, occurredStartUs, occurredEndUs, entities].some((member) => member !== undefined);

function writeEditedColumns({ tx }: BankCommit, edit: UnitEdit, row: UnitRow): void {
  const set = (column: string, value: string | number | null) =>
    tx.run(`UPDATE units SET ${column} = ? WHERE unit_no = ?`, [value, row.unitNo]);
  if (edit.text !== undefined) set("text", edit.text);
  if (edit.context !== undefined) set("context", edit.context);
  if (edit.tokenCount !== undefined) set("token_count", edit.tokenCount);
  if (edit.features !== undefined) set("features", JSON.stringify(edit.features));
  if (edit.type !== undefined) {
    set("type", edit.type);
    set("family", familyOf(edit.type));
  }
  if (edit.occurredStartUs !== undefined) set("occurred_start_us", edit.occurredStartUs);
  if (edit.occurredEndUs !== undefined) set("occurred_end_us", edit.occurredEndUs);
  tx.run("UPDATE units SET event_us = coalesce(occurred_start_us, mentioned_us) WHERE unit_no = ?", [row.unitNo]);
}

function applyConsolidation(commit: BankCommit, ledger: UnitLedger, plan: ConsolidationCommit): void {
  const { tx, seq, nowUs } = commit;
  const deleted = plan.deletes.flatMap((unitId) => ledger.row(unitId) ?? []).filter((row) => row.type === "observation");
  ledger.remove(deleted);
  for (const update of plan.updates) updateObservation(commit, ledger, update);
  for (const unit of plan.creates) {
    const sources = unit.sourceUnitIds.filter((unitId) => ledger.row(unitId)?.live);
    if (sources.length > 0) ledger.insert({ ...unit, sourceUnitIds: sources, proofCount: sources.length }, undefined);
  }
  ledger.link(plan.links);
  const stamp = (column: "consolidated_us" | "consolidation_failed_us", unitIds: readonly string[]) => {
    for (const unitId of unitIds)
      tx.run(`UPDATE units SET ${column} = ? WHERE unit_id = ? AND bank_no = ?`, [nowUs, unitId, commit.bankNo]);
  };
  stamp("consolidated_us", plan.done);
  stamp("consolidation_failed_us", plan.failed);
  for (const { unitId, byId } of plan.supersedes) {
    const [loser, winner] = [ledger.row(unitId), ledger.row(byId)];
    if (!loser || !winner) continue;
    tx.run("INSERT INTO supersessions (unit_no, by_no) VALUES (?, ?) ON CONFLICT DO NOTHING", [loser.unitNo, winner.unitNo]);
    tx.run("UPDATE units SET changed_seq = ? WHERE unit_no = ?", [seq, loser.unitNo]);
  }
}

function updateObservation(commit: BankCommit, ledger: UnitLedger, update: ObservationUpdate): void {
  const { tx, seq, nowUs, bankNo } = commit;
  const row = ledger.row(update.unitId);
  if (row?.type !== "observation") return; // Deleted since the plan was made; its sources are pending again and will be seen.
  const sources = update.sourceUnitIds.flatMap((unitId) => ledger.row(unitId) ?? []).filter((source) => source.live);
  if (sources.length === 0) {
    ledger.remove([row]);
    return;
  }
  rememberChange(commit, row, update);

  ledger.deactivate(row);
  ledger.entities.replaceKept(row, update.entityIds.map(ledger.entities.numberOf));
  const eventUs = eventUsOf(update) ?? null;
  tx.run("DELETE FROM observation_sources WHERE observation_no = ?", [row.unitNo]);
  for (const { unitNo } of sources) {
    tx.run("INSERT INTO observation_sources (observation_no, source_no) VALUES (?, ?) ON CONFLICT DO NOTHING", [
      row.unitNo,
      unitNo,
    ]);
  }
  tx.run(
    `UPDATE units SET text = ?, tags = ?, occurred_start_us = ?, occurred_end_us = ?, mentioned_us = ?, event_us = ?, features = ?, token_count = ?,
       proof_count = ?, updated_us = ?, changed_seq = ? WHERE unit_no = ? AND bank_no = ?`,
    [
      update.text,
      JSON.stringify(update.tags),
      update.occurredStartUs ?? null,
      update.occurredEndUs ?? null,
      update.mentionedAtUs ?? null,
      eventUs,
      JSON.stringify(update.features),
      update.tokenCount,
      new Set(sources.map((source) => source.unitNo)).size,
      nowUs,
      seq,
      row.unitNo,
      bankNo,
    ],
  );
  ledger.activate(ledger.row(update.unitId)!, update.searchTokens);
}

function rememberChange({ tx, nowUs }: BankCommit, row: UnitRow, update: ObservationUpdate): void {
  const before = tx.get<{
    text: string;
    occurred_start_us: number | null;
    occurred_end_us: number | null;
    mentioned_us: number | null;
  }>("SELECT text, occurred_start_us, occurred_end_us, mentioned_us FROM units WHERE unit_no = ?", [row.unitNo])!;
  const sourceFacts = update.sourceUnitIds.flatMap((unitId) => {
    const fact = tx.get<{ unit_id: string; text: string; type: string; context: string }>(
      "SELECT unit_id, text, type, context FROM units WHERE unit_id = ?",
      [unitId],
    );
    return fact
      ? [
          {
            id: fact.unit_id,
            text: fact.text,
            type: fact.type,
            context: fact.context,
            isNew: update.newSourceIds.includes(unitId),
          },
        ]
      : [];
  });
  const change: ObservationChange = {
    previousText: before.text,
    previousTags: row.tags,
    previousOccurredStartUs: before.occurred_start_us ?? undefined,
    previousOccurredEndUs: before.occurred_end_us ?? undefined,
    previousMentionedAtUs: before.mentioned_us ?? undefined,
    changedAtUs: nowUs,
    newSourceIds: update.newSourceIds,
    sourceFacts,
  };
  tx.run("INSERT INTO observation_history (unit_no, change) VALUES (?, ?)", [row.unitNo, JSON.stringify(change)]);
  tx.run(
    `DELETE FROM observation_history WHERE unit_no = ?1 AND history_no <=
       (SELECT history_no FROM observation_history WHERE unit_no = ?1 ORDER BY history_no DESC LIMIT 1 OFFSET ?2)`,
    [row.unitNo, historyEntriesMax],
  );
}
