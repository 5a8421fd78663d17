import { AppError, valueError } from "@memory-bank/errors";

/** A hard rule that reflect injects into its prompts. */
export interface Directive {
  readonly id: string;
  readonly bankUid: string;
  readonly name: string;
  readonly content: string;
  /** Higher is more important. */
  readonly priority: number;
  readonly isActive: boolean;
  /** Without repeats, in the order given. */
  readonly tags: readonly string[];
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** The members that callers set; absent ones keep their value. */
export interface DirectiveChange {
  readonly name?: string | undefined;
  readonly content?: string | undefined;
  readonly priority?: number | undefined;
  readonly isActive?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** How requested tags select directives. Without requested tags only `exact` selects: those without tags. */
export type TagsMatch = "any" | "all" | "any_strict" | "all_strict" | "exact";

export const DIRECTIVE_NAME_LENGTH_MAX = 255;
export const TAG_LENGTH_MAX = 255;
// Both ends of a 32-bit integer, the type of a priority on the wire.
const PRIORITY_MIN = -(2 ** 31);
const PRIORITY_MAX = 2 ** 31 - 1;

/** Throws `invalid_argument` with violations when a member breaks a rule. */
export function newDirective(
  ids: Pick<Directive, "id" | "bankUid">,
  members: Required<{ [M in keyof DirectiveChange]: NonNullable<DirectiveChange[M]> }>,
  nowUs: number,
): Directive {
  requireMembers(members);
  return { ...ids, ...members, tags: [...new Set(members.tags)], createdAtUs: nowUs, updatedAtUs: nowUs };
}

/** Even a change without members moves `updatedAtUs`. */
export function changeDirective(directive: Directive, change: DirectiveChange, nowUs: number): Directive {
  requireMembers(change);
  return {
    ...directive,
    name: change.name ?? directive.name,
    content: change.content ?? directive.content,
    priority: change.priority ?? directive.priority,
    isActive: change.isActive ?? directive.isActive,
    tags: change.tags ? [...new Set(change.tags)] : directive.tags,
    updatedAtUs: nowUs,
  };
}

export function directiveNotFound(directiveId: string): AppError {
  return new AppError("not_found", "DIRECTIVE_NOT_FOUND", `Directive '${directiveId}' not found`, { details: { directiveId } });
}

function requireMembers({ name, content, priority, tags }: DirectiveChange): void {
  if (name?.trim() === "") throw valueError(["body", "name"], "name must not be blank", name);
  if (content?.trim() === "") throw valueError(["body", "content"], "content must not be blank", content);
  if (name !== undefined && name.length > DIRECTIVE_NAME_LENGTH_MAX) {
    throw valueError(["body", "name"], `name must have at most ${DIRECTIVE_NAME_LENGTH_MAX} characters`, name);
  }
  const longTag = tags?.findIndex((tag) => tag.length > TAG_LENGTH_MAX) ?? -1;
  if (longTag >= 0) {
    throw valueError(["body", "tags", longTag], `a tag must have at most ${TAG_LENGTH_MAX} characters`, tags?.[longTag]);
  }
  const isPriority =
    priority === undefined || (Number.isInteger(priority) && priority >= PRIORITY_MIN && priority <= PRIORITY_MAX);
  if (!isPriority) throw valueError(["body", "priority"], "priority must be a 32-bit integer", priority);
}
