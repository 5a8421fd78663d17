export { busFields, mongodbFields, qdrantFields } from "./cluster-fields.ts";
export { describeConfig } from "./describe-config.ts";
export { bool, type Field, type FieldOptions, int, list, oneOf, secret, string } from "./field.ts";
export {
  type Config,
  type ConfigSchema,
  type Environment,
  fieldsOf,
  type LoadedConfig,
  loadConfig,
  type Variants,
  variants,
} from "./load-config.ts";
export { loadOrCreateSecretFile } from "./secret-file.ts";
