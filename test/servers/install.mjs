// `pnpm servers`: installs what the suites of MongoDB, Qdrant and NATS run against into .servers/, which git ignores. No root
// rights are needed, but Go for NATS, Java and Maven for MongoDB's stand-in, Python for Qdrant's. What is there already stays.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NATS_VERSION = "v2.15.2";
const QDRANT_CLIENT_VERSION = "1.20.0";

const here = new URL("./", import.meta.url);
const target = new URL("../../.servers/", here);
const pathOf = (relative, base = target) => fileURLToPath(new URL(relative, base));

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"], ...options });
  if (error) throw new Error(`${command} cannot be run (${error.code})`);
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}

function installNats() {
  const folder = pathOf("nats/");
  run("go", ["install", `github.com/nats-io/nats-server/v2@${NATS_VERSION}`], { env: { ...process.env, GOBIN: folder } });
}

function installMongodb() {
  const folder = pathOf("mongodb/");
  for (const name of ["pom.xml", "Launcher.java"]) copyFileSync(pathOf(`mongodb/${name}`, here), `${folder}${name}`);
  run("mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], { cwd: folder });
  run("javac", ["-cp", "lib/*", "-d", "classes", "Launcher.java"], { cwd: folder });
}

function installQdrant() {
  const folder = pathOf("qdrant/");
  run("python3", ["-m", "venv", "venv"], { cwd: folder });
  run("venv/bin/pip", ["install", "--quiet", `qdrant-client==${QDRANT_CLIENT_VERSION}`], { cwd: folder });
  copyFileSync(pathOf("qdrant/front.py", here), `${folder}front.py`);
}

const servers = [
  { name: "NATS", folder: "nats/", proof: "nats/nats-server", install: installNats },
  { name: "MongoDB stand-in", folder: "mongodb/", proof: "mongodb/classes/Launcher.class", install: installMongodb },
  { name: "Qdrant stand-in", folder: "qdrant/", proof: "qdrant/front.py", install: installQdrant },
];

for (const { name, folder, proof, install } of servers) {
  if (existsSync(pathOf(proof))) {
    console.log(`${name}: already installed`);
    continue;
  }
  mkdirSync(pathOf(folder), { recursive: true });
  try {
    install();
    console.log(`${name}: installed`);
  } catch (error) {
    rmSync(pathOf(folder), { recursive: true, force: true });
    console.error(`${name}: not installed, ${error.message}; its suites will be skipped`);
    process.exitCode = 1;
  }
}
