import { AppError } from "@memory-bank/errors";
import { type Db, MongoClient } from "mongodb";
import { type MongodbMigration, migrateMongodb, requireMigrated } from "./migrate-mongodb.ts";
import { mongodbAppError, storeClosed } from "./mongodb-errors.ts";

/** Which database, as a configuration names it. */
export interface MongodbPlace {
  /** `mongodb://` or `mongodb+srv://`; user and password may be in it. */
  readonly url: string;
  /** Of one service alone. */
  readonly database: string;
  /** `"run"` brings the schema up to date, `"require"` refuses one that is not: then a command of its own runs it. */
  readonly migrate?: "run" | "require";
}

export interface MongodbOptions extends MongodbPlace {
  readonly migrations: readonly MongodbMigration[];
}

/** An open database. Any use after closing is `unavailable`. */
export interface MongodbDatabase extends AsyncDisposable {
  /** Runs `work`, with the driver's errors as `AppError` where a caller can act on them. */
  run<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Throws `unavailable` when the server does not answer; for readiness. */
  ping(): Promise<void>;
}

/** The database of a service, or `undefined` when no server is configured. */
export function mongodbPlaceOf(
  settings: { url: string | undefined; databasePrefix: string; migrate: "run" | "require" },
  service: string,
): MongodbPlace | undefined {
  const { url, databasePrefix, migrate } = settings;
  return url === undefined ? undefined : { url, database: `${databasePrefix}${service}`, migrate };
}

const SERVER_SELECTION_TIMEOUT_MS = 3_000; // an election takes one or two seconds; callers still wait then
const CONNECT_TIMEOUT_MS = 2_000;
const SOCKET_TIMEOUT_MS = 15_000; // of one command; the largest writes take less than a second
const POOL_SIZE_MAX = 32; // per process; a server bears thousands of connections, and a service waits for few commands at once
const POOL_SIZE_MIN = 2; // spares the first calls after a pause the handshake
const QUEUE_TIMEOUT_MS = 10_000; // for a connection of the pool; callers have deadlines of their own, most of them shorter
const WRITE_TIMEOUT_MS = 5_000; // for a majority to confirm a write
const PING_TIMEOUT_MS = 2_000;

/**
 * Connects to a database. Answered writes are on the disks of a majority, reads go to the primary and so see them. Throws
 * `unavailable` when no server answers, `failed_precondition` when its schema does not fit.
 */
export async function openMongodb({ url, database, migrations, migrate = "run" }: MongodbOptions): Promise<MongodbDatabase> {
  const client = createClient(url);
  const db = client.db(database);
  let isOpen = true;
  const run = async <T>(work: (db: Db) => Promise<T>): Promise<T> => {
    if (!isOpen) throw storeClosed();
    try {
      return await work(db);
    } catch (error) {
      throw isOpen ? mongodbAppError(error) : storeClosed();
    }
  };
  try {
    await run((open) => (migrate === "run" ? migrateMongodb(open, migrations) : requireMigrated(open, migrations)));
  } catch (error) {
    await client.close();
    throw error;
  }
  return {
    run,
    ping: () => run(async (open) => void (await open.command({ ping: 1 }, { timeoutMS: PING_TIMEOUT_MS }))),
    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      await client.close();
    },
  };
}

function createClient(url: string): MongoClient {
  try {
    return new MongoClient(url, {
      appName: "memory-bank",
      serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
      connectTimeoutMS: CONNECT_TIMEOUT_MS,
      socketTimeoutMS: SOCKET_TIMEOUT_MS,
      maxPoolSize: POOL_SIZE_MAX,
      minPoolSize: POOL_SIZE_MIN,
      waitQueueTimeoutMS: QUEUE_TIMEOUT_MS,
      readPreference: "primary",
      writeConcern: { w: "majority", journal: true, wtimeoutMS: WRITE_TIMEOUT_MS },
      ignoreUndefined: true,
    });
  } catch (error) {
    // The driver's message may quote the URL with its password.
    throw new AppError("invalid_argument", "INVALID_MONGODB_URL", "The MongoDB URL is malformed", { cause: error });
  }
}
