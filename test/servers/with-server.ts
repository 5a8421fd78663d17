import { afterAll, beforeAll, describe } from "vitest";
import { findServer, type ServerKind } from "./find-server.ts";
import { type RunningServer, startServer } from "./start-server.ts";

const START_TIMEOUT_MS = 60_000; // above that of the start itself, which has the better message

/**
 * Registers suites that need a server, which is started before and stopped after them; `url` may be called in tests and hooks.
 * Where none can be had they are skipped under a name that begins with "Not tested", and the run ends by listing those names.
 */
export function describeWithServer(kind: ServerKind, suites: (url: () => string) => void): void {
  const source = findServer(kind);
  if (source.kind === "none") {
    const title = `Not tested with ${kind}: ${source.reason}`;
    console.warn(title);
    describe.skip(title, () => suites(() => ""));
    return;
  }
  describe(`with ${source.kind === "program" && source.isStandIn ? `a stand-in for ${kind}` : kind}`, () => {
    let server: RunningServer | undefined;
    beforeAll(async () => {
      server = await startServer(kind);
    }, START_TIMEOUT_MS);
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]();
    });
    suites(() => {
      if (!server) throw new Error("the server starts before the first test");
      return server.url;
    });
  });
}
