/**
 * Stored text for a prompt: one JSON value between two marks. No text can close the block, because the sign that marks begin
 * with is escaped inside it: a memory that gives orders stays a memory.
 */
export function dataBlock(name: string, value: unknown): string {
  return `<${name}>\n${JSON.stringify(value, null, 1).replaceAll("<", "\\u003c")}\n</${name}>`;
}
