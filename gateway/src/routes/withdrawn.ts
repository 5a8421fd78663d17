import { AppError } from "@memory-bank/errors";
import { Type } from "typebox";

/** The answer of an operation that is no more: 410 with the name of what replaced it. */
export function withdrawn(replacement: string): () => Promise<never> {
  return async () => {
    throw new AppError("failed_precondition", "OPERATION_WITHDRAWN", `This operation was withdrawn: ${replacement}`);
  };
}

export const noAnswer = Type.Null();
