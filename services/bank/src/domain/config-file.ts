import { AppError } from "@memory-bank/errors";
import { type ConfigValues, readLayer } from "./bank-config.ts";
import { isJsonObject } from "./json.ts";

/** The upper layers as the operator wrote them down. */
export interface ConfigFile {
  readonly global: ConfigValues;
  readonly tenants: ReadonlyMap<string, ConfigValues>;
}

export const emptyConfigFile: ConfigFile = { global: {}, tenants: new Map() };

/** Reads the text of a configuration file, `{global?, tenants?}`. Throws one `invalid_argument` that lists every problem. */
export function parseConfigFile(text: string): ConfigFile {
  const document = parseObject(text);
  const faults: string[] = Object.keys(document)
    .filter((member) => member !== "global" && member !== "tenants")
    .map((member) => `${member}: unknown member; there are global and tenants`);
  const layer = (path: string, values: unknown, below: readonly ConfigValues[]) => {
    const own: string[] = [];
    const read = readLayer(values, below, own);
    faults.push(...own.map((fault) => `${path}: ${fault}`));
    return read;
  };
  const global = layer("global", document["global"] ?? {}, []);
  const tenants = new Map<string, ConfigValues>();
  const given = document["tenants"] ?? {};
  if (!isJsonObject(given)) faults.push("tenants: must be an object");
  else
    for (const [tenantId, values] of Object.entries(given)) tenants.set(tenantId, layer(`tenants.${tenantId}`, values, [global]));
  if (faults.length > 0) throw invalidFile(faults);
  return { global, tenants };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw invalidFile([`is not JSON: ${(error as SyntaxError).message}`]);
  }
  if (!isJsonObject(document)) throw invalidFile(["must be an object"]);
  return document;
}

function invalidFile(problems: readonly string[]): AppError {
  return new AppError("invalid_argument", "INVALID_CONFIG_FILE", `BANK_CONFIG_FILE: ${problems.join("; ")}`, {
    details: { problems },
  });
}
