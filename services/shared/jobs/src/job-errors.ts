import { AppError } from "@memory-bank/errors";
import { JOB_ERROR_LENGTH_MAX } from "./job.ts";

export function leaseLost(jobId: string): AppError {
  return new AppError("conflict", "LEASE_LOST", `Job '${jobId}' is no longer held`, { details: { jobId } });
}

export function jobNotFound(jobId: string): AppError {
  return new AppError("not_found", "JOB_NOT_FOUND", `Job '${jobId}' not found`, { details: { jobId } });
}

export function invalidJob(message: string): AppError {
  return new AppError("invalid_argument", "INVALID_JOB", message);
}

type StateReason = "JOB_NOT_PENDING" | "JOB_NOT_RETRYABLE" | "JOB_ALREADY_PENDING" | "JOB_NOT_FINISHED";

/** A call that the job's status does not allow. */
export function wrongState(reason: StateReason, jobId: string, status: string): AppError {
  return new AppError("failed_precondition", reason, `Job '${jobId}' is ${status}`, { details: { jobId, status } });
}

/** An error's text as a job may keep it. */
export function cutError(error: string): string {
  return error.slice(0, JOB_ERROR_LENGTH_MAX).toWellFormed();
}
