import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** SHA-256 of a file, lower-case hex. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Makes what was written to a file, or the names in a folder, survive a power cut. */
export async function sync(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}
