import type { FastifyReply } from "fastify";

const HEADER_BYTES_MAX = 1024; // proxies commonly allow 8 KiB for all headers of a response together

/** Names the members and parameters of the request that nothing reads, so that a misspelt one can be noticed. */
export function reportIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  let value = "";
  for (const name of names) {
    const next = value === "" ? headerText(name) : `${value}, ${headerText(name)}`;
    if (next.length > HEADER_BYTES_MAX) break;
    value = next;
  }
  if (value !== "") reply.header("x-ignored-params", value);
}

/** What may stand in a header, with the separators of this one and everything beyond ASCII percent-encoded. */
function headerText(name: string): string {
  return name.toWellFormed().replace(/[^\x21-\x7e]|[%,]/gu, (character) => {
    const bytes = [...Buffer.from(character)];
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
  });
}
