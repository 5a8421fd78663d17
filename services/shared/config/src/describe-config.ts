import type { Config, ConfigSchema } from "./load-config.ts";
import { isField, isVariants } from "./load-config.ts";

/** The effective value of every setting in use, by its variable's name, for the start-up log. Of a secret it says only whether it is set. */
export function describeConfig<S extends ConfigSchema>(schema: S, config: Config<S>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(described(schema, config as Readonly<Record<string, unknown>>));
}

function described(schema: ConfigSchema, config: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(schema).flatMap(([member, part]): [string, unknown][] => {
    const value = config[member];
    if (isField(part)) return [[part.name, part.isSecret ? (value === undefined ? "(not set)" : "(set)") : value]];
    const inner = value as Readonly<Record<string, unknown>>;
    if (!isVariants(part)) return described(part, inner);
    return [[part.kind.name, inner["kind"]], ...described(part.options[String(inner["kind"])] ?? {}, inner)];
  });
}
