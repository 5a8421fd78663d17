import type { JsonValue } from "@memory-bank/jobs";
import type { TracedTool } from "../domain/answer.ts";
import type { ReflectDeps } from "../reflect-deps.ts";

/** Runs a search and notes it: what it was asked, what it brought, and how long it took. */
export async function traceTool<T>(
  { nowUs }: Pick<ReflectDeps, "nowUs">,
  tools: TracedTool[],
  call: { readonly tool: string; readonly input: TracedTool["input"]; readonly iteration: number },
  work: () => Promise<T>,
  outputOf: (result: T) => JsonValue,
): Promise<T> {
  const startedUs = nowUs();
  const result = await work();
  tools.push({ ...call, output: outputOf(result), durationMs: Math.round((nowUs() - startedUs) / 1_000) });
  return result;
}
