import { list, refine } from "../validation/containers.ts";
import { str } from "../validation/scalars.ts";
import type { Schema } from "../validation/schema.ts";

/** Names, tags and event types: what a list shows in one line. */
export const LABEL_LENGTH_MAX = 255;

/** Text of which something is left without its blanks; `name` stands in the fault. */
export function nonBlank(name: string, bounds: { readonly maxLength?: number } = {}): Schema<string> {
  return refine(str(bounds), (text) => (text.trim() === "" ? `${name} must not be blank` : undefined));
}

/** Tags as a caller sets them; repeats are dropped where they are stored. */
export const tagList = () => list(str({ maxLength: LABEL_LENGTH_MAX }));

/** A question that a search can work with: it holds at least one letter or digit. */
export const question = () =>
  refine(str(), (text) => (/[\p{L}\p{N}]/u.test(text) ? undefined : "query must contain a letter or a digit"));

/** Fact types that a selection may name; `world` stands for its whole family there. */
export const factTypes = ["world", "preference", "fact", "experience", "observation"] as const;
