import { join } from "node:path";
import { createInProcessBus } from "@memory-bank/events";
import { createKeyedLock, openMemoryStore, openVectorIndex, verifyBanks } from "@memory-bank/memory";
import { type EmbedderConfig, openEmbedder } from "@memory-bank/models";
import type { VerifyBanksRequest, VerifyBanksResponse } from "@memory-bank/proto/memory/v1/memory";
import { lockFolder } from "@memory-bank/storage";
import { silentLogger } from "@memory-bank/telemetry";

/**
 * Verifies the banks of a data folder that nobody has open, as the memory service does for its own. Throws `failed_precondition`,
 * FOLDER_IN_USE, while a process serves from it.
 */
export async function verifyFolder(
  dataDir: string,
  request: VerifyBanksRequest,
  deps: { readonly embedder: EmbedderConfig; readonly nowUs: () => number; readonly signal: AbortSignal },
): Promise<VerifyBanksResponse> {
  await using resources = new AsyncDisposableStack();
  resources.use(lockFolder(dataDir));
  const log = silentLogger;
  const bus = resources.use(createInProcessBus({ log }));
  const { store, keeping } = resources.use(
    await openMemoryStore({ kind: "sqlite", file: join(dataDir, "memory.sqlite") }, { bus, log, nowUs: deps.nowUs }),
  );
  const embedder = resources.use(await openEmbedder(deps.embedder));
  const { id: embedderId, dimensions } = embedder;
  const vectors = resources.use(
    await openVectorIndex({ kind: "sqlite", file: join(dataDir, "vectors.sqlite"), embedderId, dimensions }),
  );
  return await verifyBanks(
    { store, keeping, vectors, embedder, lock: createKeyedLock(), nowUs: deps.nowUs, isAlone: true },
    request,
    deps.signal,
  );
}
