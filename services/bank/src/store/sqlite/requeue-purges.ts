import { outboxMigration } from "@memory-bank/events";
import { enqueueJobs, jobsMigration } from "@memory-bank/jobs";
import { migrationsFrom, openSqlite } from "@memory-bank/storage";
import { purgeJob } from "../../purge.ts";

/**
 * Queues the purge of every dead bank again, in a file that nobody has open. For a restored backup: its files are copies of
 * different moments, so an owner may hold a bank again whose purge had been confirmed. Answers how many were queued.
 */
export async function requeuePurges(
  file: string,
  { nowUs, newId }: { nowUs: () => number; newId: () => string },
): Promise<number> {
  const migrations = [jobsMigration, outboxMigration, ...migrationsFrom(new URL("./migrations/", import.meta.url))];
  await using db = openSqlite({ file, migrations });
  return await db.write((tx) => {
    const dead = tx.all<{ bank_uid: string; tenant_id: string }>(
      "SELECT bank_uid, tenant_id FROM banks WHERE deleted_at_us IS NOT NULL",
    );
    const jobs = dead.map((row) => purgeJob({ bankUid: row.bank_uid, tenantId: row.tenant_id }, { id: newId(), nowUs: nowUs() }));
    if (jobs.length > 0) enqueueJobs(tx, jobs, nowUs());
    return jobs.length;
  });
}
