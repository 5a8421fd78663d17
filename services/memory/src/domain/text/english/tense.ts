import type { Tense } from "../time-expressions.ts";

const future =
  /\b(?:will|won't|shall|going to|gonna|plan(?:s|ning)? (?:to|on|for)|upcoming|coming up|can't wait|look(?:ing)? forward|soon|tomorrow|scheduled|hop(?:e|ing) to|about to|want to|next|let's)\b|['’]ll\b/i;
const past =
  /\b(?:was|were|had|did|didn't|went|got|took|made|came|saw|met|gave|found|bought|won|lost|left|felt|began|began|ran|wrote|read|told|said|ate|drove|flew|brought|thought|been|ago|yesterday|last|[a-z]{2,}ed)\b/i;

/** Which way the verbs and time words of a sentence point; `open` when none does or both do. */
export function tenseOf(text: string): Tense {
  const pointsAhead = future.test(text);
  const pointsBack = past.test(text);
  if (pointsAhead === pointsBack) return "open";
  return pointsAhead ? "future" : "past";
}
