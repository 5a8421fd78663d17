export {
  type Claim,
  isTerminal,
  JOB_ERROR_LENGTH_MAX,
  type Job,
  type JobProgress,
  type JobStatus,
  type JobSummary,
  type JsonObject,
  type JsonValue,
  type NewJob,
} from "./job.ts";
export { createJobRunner, type JobEnd, type JobHandler, type JobRun, type JobRunner, type JobRunnerDeps } from "./job-runner.ts";
export {
  type BackToPending,
  CLAIM_BATCH_MAX,
  type ClaimedJob,
  type ClaimRequest,
  ENQUEUE_BATCH_MAX,
  type Enqueued,
  JOB_PAGE_MAX,
  type JobPage,
  type JobQuery,
  type JobStore,
} from "./job-store.ts";
export { mongodbJobsMigration } from "./mongodb/job-documents.ts";
export { createMongodbJobStore, type MongodbJobStoreDeps } from "./mongodb/job-store.ts";
export {
  type Backoff,
  defaultRetryPolicy,
  type Failure,
  isWorthRetrying,
  type RetryPolicy,
  retryEvery,
  retryWithBackoff,
} from "./retry-policy.ts";
export { assertClaim, cancelPendingJob, completeJob, failJob, setJobDetails, setJobProgress } from "./sqlite/claimed-jobs.ts";
export { enqueueJobs } from "./sqlite/enqueue-jobs.ts";
export { createSqliteJobStore, type SqliteJobStoreDeps } from "./sqlite/job-store.ts";
export { jobsMigration } from "./sqlite/jobs-migration.ts";
