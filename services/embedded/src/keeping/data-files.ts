/**
 * The databases of a data folder, in the order in which a backup copies them. Each copy is one moment of its file, later ones are
 * younger, and this order makes the differences harmless:
 * - reflect before memory: a mental model never claims to have seen a commit that the memories do not have;
 * - memory before vectors: what has a unit in the copy had its vector; younger vectors are swept at the first start;
 * - memory before webhook and bank: an event is either still in memory's outbox or has reached them; one that did both is
 *   recognised by its id;
 * - bank after everybody who keeps data of banks: whatever is there belongs to a bank that is known, alive or dead;
 * - auth last: a key that was revoked meanwhile stays revoked.
 */
export const databaseFiles = ["reflect", "memory", "vectors", "webhook", "bank", "auth"].map((name) => `${name}.sqlite`);

/** Secrets that the folder keeps for itself; absent when they come from the configuration. */
export const secretFiles = ["pepper", "webhook-key"];

export const manifestFile = "manifest.json";
export const backupFormat = "memory-bank-backup/1";

/** What a backup holds. Written last: a folder without it is an unfinished backup. */
export interface Manifest {
  readonly format: typeof backupFormat;
  readonly startedAt: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

export const privateFile = 0o600;
export const privateFolder = 0o700;
