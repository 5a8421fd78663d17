import { AppError } from "@memory-bank/errors";
import type { SqliteDatabase } from "@memory-bank/storage";

interface Space {
  readonly embedderId: string;
  readonly dimensions: number;
  readonly otherEmbedder?: "refuse" | "discard";
}

/**
 * Makes the file one of this embedder's vectors. Vectors of different embedders mean nothing to each other, so a file that
 * holds another's is refused, or emptied when the caller says so; one without vectors changes hands freely.
 */
export function claimSpace(db: SqliteDatabase, { embedderId, dimensions, otherEmbedder = "refuse" }: Space): void {
  db.writeNow((tx) => {
    const space = tx.get<{ embedder_id: string; dimensions: number }>("SELECT embedder_id, dimensions FROM space");
    if (space?.embedder_id === embedderId && space.dimensions === dimensions) return;
    if (space && otherEmbedder === "refuse" && tx.get("SELECT 1 FROM vectors LIMIT 1")) {
      throw new AppError(
        "failed_precondition",
        "EMBEDDER_CHANGED",
        `The stored vectors were made by embedder '${space.embedder_id}' (${space.dimensions} numbers), not by '${embedderId}' (${dimensions}); choose that one again, or set MEMORY_EMBEDDINGS_REEMBED=true to have them made anew`,
        { details: { stored: space.embedder_id, configured: embedderId } },
      );
    }
    tx.run("DELETE FROM vectors");
    tx.run("DELETE FROM banks");
    tx.run("DELETE FROM space");
    tx.run("INSERT INTO space (embedder_id, dimensions) VALUES (?, ?)", [embedderId, dimensions]);
  });
}
