import { parseArgs } from "node:util";
import { printTable, type Row } from "../bench/report.ts";
import { generatedCases, writtenCases } from "./consolidation-cases.ts";
import { evaluateConsolidation } from "./evaluate-consolidation.ts";
import { type Embeddings, evaluateQuestions } from "./evaluate-questions.ts";
import { generatedQuestions, writtenQuestions } from "./question-cases.ts";

/**
 * `pnpm eval [--embeddings lexical|local] [--verbose]`: how well memories are consolidated and questions answered by rules, on
 * cases of our own, without a network. Prints one table, and with `--verbose` every wrong answer; exits 1 below a target.
 */
const { values } = parseArgs({
  options: { embeddings: { type: "string", default: "lexical" }, verbose: { type: "boolean", default: false } },
});
const embeddings = embeddingsOf(values.embeddings);

const rows: Row[] = [];
const mistakes: string[] = [];
for (const [name, cases] of [
  ["written", writtenCases],
  ["generated", generatedCases()],
] as const) {
  const figures = await evaluateConsolidation(cases, embeddings);
  const what = (figure: string) => `${figures.cases} ${name} cases of consolidation, ${embeddings}: ${figure}`;
  rows.push(
    atLeast(what("precision of superseding"), figures.supersedePrecision, 0.95),
    atLeast(what("recall of superseding"), figures.supersedeRecall, 0.8),
    { what: what("recall of merging"), value: percent(figures.mergeRecall), target: "", isMet: undefined },
    atMost(what(`duplicates among ${figures.observations} observations`), figures.duplicateRate, 0.01, percent),
    atMost(what("invented words"), figures.inventedWords, 0),
    atMost(what("cases that change when run again"), figures.unstable, 0),
  );
  mistakes.push(...figures.mistakes);
}
for (const [name, cases] of [
  ["written", writtenQuestions],
  ["generated", generatedQuestions()],
] as const) {
  const figures = await evaluateQuestions(cases, embeddings);
  const what = (figure: string) => `${figures.questions} ${name} questions, ${embeddings}: ${figure}`;
  rows.push(
    atLeast(what("precision of abstaining"), figures.abstentionPrecision, 0.9),
    atLeast(what("recall of abstaining"), figures.abstentionRecall, 0.75),
    atLeast(what("one fact, answer holds the expected words"), figures.oneFact, 0.9),
    atLeast(what("several facts, answer holds the expected words"), figures.severalFacts, 0.8),
    atLeast(what(`${figures.citations} citations correct`), figures.citationCorrectness, 1),
    atLeast(what(`${figures.replacements} replaced notes rank below their successor`), figures.replacedBelow, 1),
  );
  mistakes.push(...figures.mistakes);
}
printTable(rows);
if (values.verbose) for (const mistake of mistakes) console.log(mistake);
process.exitCode = rows.some(({ isMet }) => isMet === false) ? 1 : 0;

function embeddingsOf(name: string): Embeddings {
  if (name === "lexical" || name === "local") return name;
  throw new Error(`--embeddings is lexical or local, not '${name}'`);
}

function atLeast(what: string, share: number, target: number): Row {
  return { what, value: percent(share), target: `>= ${percent(target)}`, isMet: share >= target };
}

function atMost(what: string, figure: number, target: number, format: (figure: number) => string = String): Row {
  return { what, value: format(figure), target: `<= ${format(target)}`, isMet: figure <= target };
}

/** Rounded down, so that nothing short of all of them reads as 100 %. */
function percent(share: number): string {
  return `${(Math.floor(share * 1000 + 1e-9) / 10).toFixed(1)} %`;
}
