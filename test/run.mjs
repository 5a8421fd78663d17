// Runs every suite and ends with one line that counts them: `N passed, N failed, N skipped`. `--full` runs the heavy tests
// in their full size (TEST_FULL=1); further arguments go to vitest.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const isFull = process.argv.includes("--full");
const rest = process.argv.slice(2).filter((argument) => argument !== "--full");
const scratch = mkdtempSync(join(tmpdir(), "memory-bank-tests-"));
const report = join(scratch, "report.json");
const { status } = spawnSync("vitest", ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...rest], {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, ...(isFull ? { TEST_FULL: "1" } : {}) },
});
let counts = { passed: 0, failed: 1, skipped: 0 };
const remarks = new Set();
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numFailedTestSuites, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  // Suites that need a server say in their titles when there was none, or not the real one.
  const titles = testResults.flatMap(({ assertionResults }) => assertionResults.flatMap(({ ancestorTitles }) => ancestorTitles));
  for (const title of titles) if (/^(Not tested|with a stand-in)/.test(title)) remarks.add(title.replace(/^with/, "Tested with"));
  // A file that cannot be loaded holds no failed test, and has failed all the same.
  const failed = Math.max(numFailedTests, Math.min(1, numFailedTestSuites));
  counts = { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
} catch (error) {
  console.error(`vitest left no report: ${error instanceof Error ? error.message : error}`);
}
rmSync(scratch, { recursive: true, force: true });
const isGreen = status === 0 && counts.failed === 0 && counts.passed > 0;
if (!isGreen && counts.failed === 0) counts.failed = 1;
for (const remark of remarks) console.log(remark);
console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`);
process.exitCode = isGreen ? 0 : 1;
