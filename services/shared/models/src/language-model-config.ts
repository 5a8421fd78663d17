import { type Config, oneOf, secret, string } from "@memory-bank/config";
import type { LanguageTask } from "./language-model.ts";
import type { LanguageModelConfig } from "./open-language-model.ts";
import type { OpenaiEndpoint } from "./openai-language-model.ts";

const endpoint = (prefix: string, whose: string) => ({
  model: string(`${prefix}LLM_MODEL`, { description: `Name of the language model${whose}`, optional: true }),
  baseUrl: string(`${prefix}OPENAI_BASE_URL`, { description: `Address of the OpenAI-compatible server${whose}`, optional: true }),
  apiKey: secret(`${prefix}OPENAI_API_KEY`, { description: `Key of the OpenAI-compatible server${whose}`, optional: true }),
});

/** Which language model works, for a root to be told. Each task may have a model, a server and a key of its own. */
export const languageModelConfig = {
  provider: oneOf("LLM_PROVIDER", {
    description: "Language model: rules that need none, an OpenAI-compatible server, or none at all",
    values: ["local", "openai", "none"],
    default: "local",
  }),
  ...endpoint("", ""),
  retain: endpoint("RETAIN_", " for extraction"),
  consolidation: endpoint("CONSOLIDATION_", " for consolidation"),
  reflect: endpoint("REFLECT_", " for answers"),
};

const DEFAULT_MODEL = "gpt-4o-mini";
const DEFAULT_URL = "https://api.openai.com/v1";
/** Servers that ask for no key want a header all the same. */
const NO_KEY = "none";

/** The language model that the settings name. */
export function languageModelConfigOf(config: Config<typeof languageModelConfig>): LanguageModelConfig {
  if (config.provider !== "openai") return { kind: config.provider };
  const { model = DEFAULT_MODEL, baseUrl = DEFAULT_URL, apiKey = NO_KEY } = config;
  const own = (task: LanguageTask): Partial<OpenaiEndpoint> => {
    const given = { model: config[task].model, baseUrl: config[task].baseUrl, apiKey: config[task].apiKey };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  };
  const perTask = { retain: own("retain"), consolidation: own("consolidation"), reflect: own("reflect") };
  return { kind: "openai", model, baseUrl, apiKey, perTask };
}
