import type { Tool } from "@memory-bank/models";

const query = { type: "string", description: "What to look for, in a few words or as a question" };
const ids = (what: string) => ({ type: "array", items: { type: "string" }, description: `Ids of ${what}` });
const object = (properties: Record<string, unknown>, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** What the agent can do. Descriptions are read by the model at every step, so they are short. */
export const agentTools = {
  search_mental_models: {
    name: "search_mental_models",
    description: "Finds standing answers that were prepared earlier. One that is marked stale may lack recent memories.",
    parameters: object({ query, max_results: { type: "integer", description: "5 unless told" } }, ["query"]),
  },
  search_observations: {
    name: "search_observations",
    description:
      "Finds observations: summaries drawn from several memories. The freshness of the answer tells whether recent memories are still missing; if so, check with recall.",
    parameters: object({ query, max_tokens: { type: "integer", description: "5000 unless told, at least 1000" } }, ["query"]),
  },
  recall: {
    name: "recall",
    description:
      "Finds single memories as they were told, with dates. Use it for details, recent events and to check observations.",
    parameters: object({ query, max_tokens: { type: "integer", description: "2048 unless told, at least 1000" } }, ["query"]),
  },
  expand: {
    name: "expand",
    description: "Shows the text around memories that were found: the chunk that they come from, or the whole document.",
    parameters: object({ ids: ids("memories that were found"), depth: { type: "string", enum: ["chunk", "document"] } }, [
      "ids",
      "depth",
    ]),
  },
  done: {
    name: "done",
    description: "Ends the work with the answer and the ids of everything that it rests on.",
    parameters: object(
      {
        answer: { type: "string", description: "The whole answer, in Markdown" },
        memory_ids: ids("memories that the answer uses"),
        mental_model_ids: ids("mental models that the answer uses"),
        observation_ids: ids("observations that the answer uses"),
        directive_compliance: { type: "string", description: "How the answer follows the binding rules, in a sentence" },
      },
      ["answer", "memory_ids", "mental_model_ids", "observation_ids"],
    ),
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof agentTools;

/** Answers to calls that lead nowhere, for the agent to read. */
export const toolComplaints = {
  unknownTool: "There is no such tool.",
  badArguments: "The arguments do not fit the tool's parameters.",
  nothingRetrieved: "Nothing was retrieved yet. Search before you answer.",
  emptyAnswer: "The answer is empty. Write it out, or say that the memories do not hold it.",
  tooManyCalls: "Too many calls at once; this one was not made.",
  notATool: "Use the tools: search for more, or end with done.",
} as const;
