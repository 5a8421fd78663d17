import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const serverKinds = ["MongoDB", "Qdrant", "NATS"] as const;
export type ServerKind = (typeof serverKinds)[number];

/** A server that runs already, a way to start one, or why there is none. */
export type ServerSource =
  | { readonly kind: "running"; readonly url: string }
  | { readonly kind: "program"; readonly command: string; readonly isStandIn: boolean }
  | { readonly kind: "none"; readonly reason: string };

interface Place {
  readonly variable: string;
  readonly program: string;
  /** Below `.servers/`. */
  readonly installed: string;
  /** True when what is installed is not the real server. */
  readonly isStandIn: boolean;
}

const places: Readonly<Record<ServerKind, Place>> = {
  MongoDB: { variable: "TEST_MONGODB_URL", program: "mongod", installed: "mongodb/classes/Launcher.class", isStandIn: true },
  Qdrant: { variable: "TEST_QDRANT_URL", program: "qdrant", installed: "qdrant/front.py", isStandIn: true },
  NATS: { variable: "TEST_NATS_URL", program: "nats-server", installed: "nats/nats-server", isStandIn: false },
};

const installFolder = fileURLToPath(new URL("../../.servers/", import.meta.url));

/** Looks for a server: the variable first, then a program on PATH, then what `pnpm servers` installed. */
export function findServer(kind: ServerKind): ServerSource {
  const { variable, program, installed, isStandIn } = places[kind];
  const url = process.env[variable];
  if (url) return { kind: "running", url };
  const onPath = findOnPath(program);
  if (onPath !== undefined) return { kind: "program", command: onPath, isStandIn: false };
  const path = join(installFolder, installed);
  if (existsSync(path)) return { kind: "program", command: path, isStandIn };
  return { kind: "none", reason: `no ${variable}, no ${program} on PATH, and "pnpm servers" has not installed one` };
}

function findOnPath(program: string): string | undefined {
  const candidates = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
