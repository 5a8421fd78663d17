import { loadConfig } from "@memory-bank/config";
import { run } from "@memory-bank/lifecycle";
import { createLogger } from "@memory-bank/telemetry";
import { embeddedConfig } from "./config.ts";
import { startEmbedded } from "./start-embedded.ts";
import { welcome } from "./welcome.ts";

await run(async (resources) => {
  const { config, warnings } = loadConfig(embeddedConfig, process.env);
  const log = createLogger({ level: config.logLevel });
  for (const warning of warnings) log.warn({}, warning);
  if (config.embeddings.openaiApiKey && config.llm.provider !== "openai" && config.embeddings.provider !== "openai") {
    log.warn({}, "OPENAI_API_KEY is set but unused: choose LLM_PROVIDER=openai or EMBEDDINGS_PROVIDER=openai to use it");
  }
  console.log(welcome(await startEmbedded(config, resources, log)));
});
