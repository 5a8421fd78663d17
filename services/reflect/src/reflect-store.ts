import type { Claim, Enqueued, NewJob } from "@memory-bank/jobs";
import type { MentalModel, ModelVersion, RefreshedContent } from "./domain/mental-model.ts";
import type { RefreshFailureReason, RefreshOutcome } from "./domain/refresh-outcome.ts";
import type { TagFilter } from "./domain/tags.ts";

export interface ModelQuery {
  readonly bankUid: string;
  readonly tags: TagFilter;
  readonly limit: number;
  readonly offset: number;
}

export interface ModelPage {
  readonly models: readonly MentalModel[];
  /** Of all matches, whatever the page. */
  readonly total: number;
}

/** A model whose schedule is due. */
export interface DueModel {
  readonly bankUid: string;
  readonly id: string;
}

/**
 * Mental models and their earlier contents, beside the jobs that refresh them.
 *
 * Models belong to an incarnation of a bank. Ids compare byte for byte. Every write is one atomic, durable step. After `fence` every read
 * of the bank is empty, and every write to it is `not_found`, `BANK_NOT_FOUND`, for ever.
 */
export interface ReflectStore {
  /**
   * Saves a new model and queues its first refresh. `already_exists`, `MENTAL_MODEL_EXISTS`, when the id is taken;
   * `resource_exhausted`, `TOO_MANY_MENTAL_MODELS`, when the bank holds `MODELS_PER_BANK_MAX`.
   */
  insert(model: MentalModel, refresh: NewJob): Promise<Enqueued>;
  find(bankUid: string, id: string): Promise<MentalModel | undefined>;
  /** Last refreshed first, those never refreshed at the end; ties by id, descending. */
  list(query: ModelQuery): Promise<ModelPage>;
  /** Tags with the number of models that carry them, in no promised order. */
  countTags(bankUid: string): Promise<readonly { readonly tag: string; readonly count: number }[]>;
  /** All models that want a refresh after consolidation. */
  listRefreshedAfterConsolidation(bankUid: string): Promise<readonly MentalModel[]>;
  /** Replaces a model by what `change` makes of it; a content that differs goes into the history. `undefined` when there is none. */
  update(
    bankUid: string,
    id: string,
    change: (model: MentalModel) => MentalModel,
    nowUs: number,
  ): Promise<MentalModel | undefined>;
  /** Deletes a model with its history and cancels a refresh that waits. False when there was none. */
  delete(bankUid: string, id: string): Promise<boolean>;
  /** Newest first, at most `VERSIONS_KEPT`. */
  listVersions(bankUid: string, id: string): Promise<readonly ModelVersion[]>;

  /** Queues a refresh, or answers the one that waits already, which then starts at the earlier of the two times. `undefined` when there is no such model. */
  enqueueRefresh(modelId: string, refresh: NewJob): Promise<Enqueued | undefined>;
  /**
   * Saves what a refresh made of a model and completes its job. `conflict`, `MODEL_CHANGED`, when the content is not the
   * one of `model` any more; `not_found`, `MENTAL_MODEL_NOT_FOUND`, when the model is gone.
   */
  commitRefresh(claim: Claim, model: MentalModel, refreshed: RefreshedContent, outcome: RefreshOutcome): Promise<void>;
  /** Fails the job for good and leaves the model as it is. */
  failRefresh(claim: Claim, reason: RefreshFailureReason): Promise<void>;

  /** Models whose schedule was due at `nowUs`, the longest due first. */
  listDue(nowUs: number, limit: number): Promise<readonly DueModel[]>;
  /** Queues the refresh of a model that is due, if it still is, and sets when it is due next. `undefined` when it is not. */
  enqueueDue(due: DueModel, refresh: NewJob, nowUs: number): Promise<Enqueued | undefined>;

  /** Hides the bank; answers how many models that hid, 0 on a repeat. */
  fence(bankUid: string): Promise<number>;
  /** Deletes a bounded part of a fenced bank; true when nothing is left. */
  purge(bankUid: string): Promise<boolean>;
  /** Throws `unavailable` when the store cannot be read. */
  ping(): Promise<void>;
}
