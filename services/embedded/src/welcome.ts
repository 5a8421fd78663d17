import type { Started } from "./start-embedded.ts";

/** What a first user sees: where it listens, the key (once), and a line to paste. */
export function welcome({ url, rpcPort, ownerKey }: Started): string {
  const key = ownerKey ?? "$MEMORY_BANK_KEY";
  const keyLines =
    ownerKey === undefined
      ? ["Owner key  shown at the first start only"]
      : [`Owner key  ${ownerKey}`, "           shown this once: keep it, for example  export MEMORY_BANK_KEY=..."];
  return [
    "",
    `Memory Bank listens on ${url}  (gRPC on port ${rpcPort}, API description at ${url}/docs)`,
    ...keyLines,
    "",
    "Try it:",
    "",
    `  curl -s ${url}/v1/default/banks/demo/memories -H 'Authorization: Bearer ${key}' \\`,
    `    -d '{"items":[{"content":"Maria runs the Lisbon office of Northwind since March 2024."}]}'`,
    "",
    `  curl -s ${url}/v1/default/banks/demo/memories/recall -H 'Authorization: Bearer ${key}' -d '{"query":"Who runs the Lisbon office?"}'`,
    "",
  ]
    .join("\n")
    .replaceAll("'Authorization: Bearer $MEMORY_BANK_KEY'", '"Authorization: Bearer $MEMORY_BANK_KEY"');
}
