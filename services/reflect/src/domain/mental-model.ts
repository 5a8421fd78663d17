import { AppError, valueError } from "@memory-bank/errors";
import type { JsonObject, NewJob } from "@memory-bank/jobs";
import { nextTickUs } from "./schedule.ts";
import { checkTrigger, type Trigger } from "./trigger.ts";

/** A standing answer. Instants are integer microseconds. */
export interface MentalModel {
  readonly bankUid: string;
  /** Unique within the bank's incarnation. */
  readonly id: string;
  readonly name: string;
  readonly sourceQuery: string;
  /** Markdown. */
  readonly content: string;
  readonly tags: readonly string[];
  /** Bound of the content. */
  readonly maxTokens: number;
  readonly trigger: Trigger;
  readonly createdAtUs: number;
  readonly lastRefreshedAtUs: number | null;
  /** Display form of the watermark: the newest in-scope change that the last refresh saw. */
  readonly lastMemorySeenAtUs: number | null;
  /** The bank's commit at the snapshot of the last refresh; what is later makes the model stale. */
  readonly watermarkSeq: number;
  /** The question that the content answers; `null` when there is no answer. */
  readonly refreshedQuery: string | null;
  /** The answer with its sources, in the public form. */
  readonly reflectResponse: JsonObject | null;
  /** When the schedule is next due. */
  readonly nextCronAtUs: number | null;
  /** Counts replacements of the content, so that a refresh notices when it worked on content that is gone. */
  readonly revision: number;
}

/** An earlier content. */
export interface ModelVersion {
  readonly content: string;
  readonly reflectResponse: JsonObject | null;
  /** When it was replaced. */
  readonly changedAtUs: number;
}

/** What a refresh writes. */
export interface RefreshedContent {
  readonly content: string;
  readonly reflectResponse: JsonObject;
  readonly refreshedQuery: string;
  readonly watermarkSeq: number;
  readonly memorySeenAtUs: number | null;
  readonly atUs: number;
}

export const PLACEHOLDER = "Generating content...";
export const VERSIONS_KEPT = 50;
/** One question about freshness covers them all (memory takes 1000 scopes in a call). */
export const MODELS_PER_BANK_MAX = 1_000;
export const REFRESH_KIND = "refresh_mental_model";

const ID_LENGTH_MAX = 255;
const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const TOKENS_MIN = 256;
const TOKENS_MAX = 8_192;

export interface ModelChange {
  readonly name?: string | undefined;
  readonly sourceQuery?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly trigger?: Trigger | undefined;
}

type NewModel = Required<{ [K in keyof ModelChange]: NonNullable<ModelChange[K]> }> & { readonly id: string };

/** A model before its first refresh. Throws `invalid_argument` for a value that no model may have. */
export function newMentalModel(bankUid: string, members: NewModel, nowUs: number): MentalModel {
  if (members.id.length > ID_LENGTH_MAX || !ID_PATTERN.test(members.id)) {
    throw valueError(["body", "id"], "id must begin with a letter or digit and hold only letters, digits, '.', '_', ':' and '-'");
  }
  checkMembers(members);
  return {
    bankUid,
    ...members,
    tags: [...new Set(members.tags)],
    content: PLACEHOLDER,
    createdAtUs: nowUs,
    lastRefreshedAtUs: null,
    lastMemorySeenAtUs: null,
    watermarkSeq: 0,
    refreshedQuery: null,
    reflectResponse: null,
    nextCronAtUs: nextCron(members.trigger, nowUs),
    revision: 0,
  };
}

/** Changes the members that are given; a trigger is replaced as a whole. */
export function changeMentalModel(model: MentalModel, change: ModelChange, nowUs: number): MentalModel {
  checkMembers(change);
  return {
    ...model,
    name: change.name ?? model.name,
    sourceQuery: change.sourceQuery ?? model.sourceQuery,
    maxTokens: change.maxTokens ?? model.maxTokens,
    tags: change.tags ? [...new Set(change.tags)] : model.tags,
    ...(change.trigger ? { trigger: change.trigger, nextCronAtUs: nextCron(change.trigger, nowUs) } : {}),
  };
}

/** A model without its answer; it is stale until the next refresh. */
export function clearMentalModel(model: MentalModel): MentalModel {
  return { ...model, content: "", reflectResponse: null, refreshedQuery: null, revision: model.revision + 1 };
}

/** The model with the outcome of a refresh. What it saw of the memories never moves back. */
export function refreshedModel(model: MentalModel, refreshed: RefreshedContent): MentalModel {
  const seen = [model.lastMemorySeenAtUs, refreshed.memorySeenAtUs].filter((at) => at !== null);
  return {
    ...model,
    content: refreshed.content,
    reflectResponse: refreshed.reflectResponse,
    refreshedQuery: refreshed.refreshedQuery,
    watermarkSeq: Math.max(model.watermarkSeq, refreshed.watermarkSeq),
    lastMemorySeenAtUs: seen.length === 0 ? null : Math.max(...seen),
    lastRefreshedAtUs: refreshed.atUs,
    revision: model.revision + 1,
  };
}

/** Whether a content that is replaced belongs into the history: a placeholder and an empty text say nothing. */
export function isWorthKeeping(before: MentalModel, after: MentalModel): boolean {
  return before.lastRefreshedAtUs !== null && before.content !== "" && before.content !== after.content;
}

/** True when the content answers no question, or another one than the model asks now. */
export function answersOtherQuestion(model: MentalModel): boolean {
  return model.lastRefreshedAtUs === null || model.refreshedQuery !== model.sourceQuery;
}

/** Whether there is an answer to read: not a placeholder, not cleared. */
export function hasAnswer(model: MentalModel): boolean {
  return model.refreshedQuery !== null && model.content.trim() !== "";
}

export function nextCron(trigger: Trigger, afterUs: number): number | null {
  return trigger.refreshCron === null ? null : (nextTickUs(trigger.refreshCron, afterUs) ?? null);
}

/** The work of refreshing a model: one waits at most, one runs at most. */
export function refreshJob(
  bank: { readonly tenantId: string; readonly bankUid: string; readonly bankId: string },
  modelId: string,
  { id, nowUs, runAtUs }: { readonly id: string; readonly nowUs: number; readonly runAtUs?: number },
): NewJob {
  const key = refreshKey(bank.bankUid, modelId);
  return {
    id,
    kind: REFRESH_KIND,
    groupKey: bank.bankUid,
    tenantKey: bank.tenantId,
    serialKey: key,
    dedupeKey: key,
    payload: { bank_id: bank.bankId, mental_model_id: modelId },
    details: { operation_type: REFRESH_KIND, mental_model_id: modelId, outcome: null, failure_reason: null },
    createdAtUs: nowUs,
    ...(runAtUs === undefined ? {} : { runAtUs }),
  };
}

export const refreshKey = (bankUid: string, modelId: string): string => `refresh ${bankUid} ${modelId}`;

export const modelNotFound = (id: string): AppError =>
  new AppError("not_found", "MENTAL_MODEL_NOT_FOUND", `Mental model '${id}' not found`);

function checkMembers({ name, sourceQuery, maxTokens, trigger }: ModelChange): void {
  if (name?.trim() === "") throw valueError(["body", "name"], "name must not be blank", name);
  if (sourceQuery?.trim() === "") throw valueError(["body", "source_query"], "source_query must not be blank", sourceQuery);
  if (maxTokens !== undefined && (maxTokens < TOKENS_MIN || maxTokens > TOKENS_MAX)) {
    throw valueError(["body", "max_tokens"], `max_tokens must be between ${TOKENS_MIN} and ${TOKENS_MAX}`, maxTokens);
  }
  if (trigger) checkTrigger(trigger);
}
