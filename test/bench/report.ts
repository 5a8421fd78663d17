/** One line of the bench: what was measured, the median over the rounds, and what is wanted. */
export interface Row {
  readonly what: string;
  readonly value: string;
  readonly target: string;
  readonly isMet: boolean | undefined;
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export function printTable(rows: readonly Row[]): void {
  const verdict = (row: Row) => (row.isMet === undefined ? "" : row.isMet ? "met" : "missed");
  const cells = [["what", "measured", "target", ""], ...rows.map((row) => [row.what, row.value, row.target, verdict(row)])];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]!.length)));
  for (const line of cells)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}

/** Progress on stderr, so that the table alone is on stdout. Redraws one line on a terminal, else prints a line per step. */
export function createProgress(steps: number): (what: string) => void {
  let done = 0;
  return (what) => {
    done++;
    const width = 24;
    const filled = Math.round((done / steps) * width);
    const line = `[${"#".repeat(filled)}${".".repeat(width - filled)}] ${done}/${steps} ${what}`;
    process.stderr.write(process.stderr.isTTY ? `\r${line.padEnd(100)}${done === steps ? "\n" : ""}` : `${line}\n`);
  };
}
