// Installs Helm, which the chart tests render with, into .servers/, which git ignores. Needs Go and nothing else.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HELM_VERSION = "v3.22.0";

const folder = fileURLToPath(new URL("../../.servers/helm/", import.meta.url));
if (existsSync(`${folder}helm`)) console.log("Helm: already installed");
else {
  const { status, error } = spawnSync("go", ["install", `helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, GOBIN: folder },
  });
  if (status === 0) console.log("Helm: installed");
  else {
    console.error(
      `Helm: not installed, go ${error ? `cannot be run (${error.code})` : `ended with ${status}`}; chart tests will be skipped`,
    );
    process.exitCode = 1;
  }
}
