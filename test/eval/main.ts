import { generatedCases, writtenCases } from "./consolidation-cases.ts";
import { evaluateConsolidation } from "./evaluate-consolidation.ts";

/** `pnpm eval [--verbose]`: how well memories are consolidated by rules, on cases of our own. Exits 1 below a target. */
const targets = { supersedePrecision: 0.95, supersedeRecall: 0.8, duplicateRate: 0.01, inventedWords: 0, unstable: 0 };

const isVerbose = process.argv.includes("--verbose");
let isMissed = false;
for (const [name, cases] of [
  ["written", writtenCases],
  ["generated", generatedCases()],
] as const) {
  const { mistakes, ...figures } = await evaluateConsolidation(cases);
  console.log(
    `${name} cases`,
    Object.fromEntries(Object.entries(figures).map(([key, value]) => [key, Math.round(value * 1000) / 1000])),
  );
  if (isVerbose) for (const mistake of mistakes) console.log(`  ${mistake}`);
  isMissed ||=
    figures.supersedePrecision < targets.supersedePrecision ||
    figures.supersedeRecall < targets.supersedeRecall ||
    figures.duplicateRate > targets.duplicateRate ||
    figures.inventedWords > targets.inventedWords ||
    figures.unstable > targets.unstable;
}
console.log(isMissed ? "below target" : "all targets met", targets);
process.exitCode = isMissed ? 1 : 0;
