/**
 * Whether a text fits a pattern in which `*` is any run of characters and the rest is literal. Case is ignored, both ends
 * are anchored. Takes time by the product of the lengths at worst, whatever the pattern.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const folded = text.toLowerCase();
  const first = parts[0]!;
  if (parts.length === 1) return folded === first;
  const last = parts.at(-1)!;
  if (!folded.startsWith(first) || !folded.endsWith(last) || folded.length < first.length + last.length) return false;
  let from = first.length;
  const end = folded.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = folded.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
