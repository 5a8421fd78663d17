import type { Row, SqliteTx } from "@memory-bank/storage";
import type { MentalModel, ModelVersion } from "../../domain/mental-model.ts";

const COLUMNS = `bank_uid, id, name, source_query, tags, max_tokens, refresh_trigger, refreshes_after_consolidation, created_at_us,
  last_refreshed_at_us, last_memory_seen_at_us, watermark_seq, refreshed_query, next_cron_at_us, revision, content, reflect_response`;

/** The rows that a condition selects, as models. */
export const selectModels = (where: string): string => `SELECT ${COLUMNS} FROM mental_models WHERE ${where}`;

const FIND = selectModels("bank_uid = ? AND id = ?");

export function findModel(tx: SqliteTx, bankUid: string, id: string): MentalModel | undefined {
  const row = tx.get(FIND, [bankUid, id]);
  return row && modelOf(row);
}

/** Inserts the model, or replaces the one of its id. */
export function writeModel(tx: SqliteTx, model: MentalModel): void {
  tx.run(
    `INSERT OR REPLACE INTO mental_models (${COLUMNS}) VALUES (:bankUid, :id, :name, :sourceQuery, :tags, :maxTokens, :trigger, :isAutomatic,
      :createdAtUs, :lastRefreshedAtUs, :lastMemorySeenAtUs, :watermarkSeq, :refreshedQuery, :nextCronAtUs, :revision, :content, :reflectResponse)`,
    {
      ...model,
      tags: JSON.stringify(model.tags),
      trigger: JSON.stringify(model.trigger),
      isAutomatic: Number(model.trigger.refreshAfterConsolidation),
      reflectResponse: model.reflectResponse && JSON.stringify(model.reflectResponse),
    },
  );
}

export function modelOf(row: Row): MentalModel {
  return {
    bankUid: String(row["bank_uid"]),
    id: String(row["id"]),
    name: String(row["name"]),
    sourceQuery: String(row["source_query"]),
    content: String(row["content"]),
    tags: JSON.parse(String(row["tags"])) as MentalModel["tags"],
    maxTokens: Number(row["max_tokens"]),
    trigger: JSON.parse(String(row["refresh_trigger"])) as MentalModel["trigger"],
    createdAtUs: Number(row["created_at_us"]),
    lastRefreshedAtUs: row["last_refreshed_at_us"] as number | null,
    lastMemorySeenAtUs: row["last_memory_seen_at_us"] as number | null,
    watermarkSeq: Number(row["watermark_seq"]),
    refreshedQuery: row["refreshed_query"] as string | null,
    reflectResponse: jsonOf(row["reflect_response"]),
    nextCronAtUs: row["next_cron_at_us"] as number | null,
    revision: Number(row["revision"]),
  };
}

export function versionOf(row: Row): ModelVersion {
  return {
    content: String(row["content"]),
    reflectResponse: jsonOf(row["reflect_response"]),
    changedAtUs: Number(row["changed_at_us"]),
  };
}

function jsonOf(text: Row[string] | undefined): MentalModel["reflectResponse"] {
  return typeof text === "string" ? (JSON.parse(text) as NonNullable<MentalModel["reflectResponse"]>) : null;
}
