import { AppError } from "@memory-bank/errors";

/** Who will not get an event any more, and why. */
export interface DeadDelivery {
  readonly eventId: string;
  readonly durable: string;
  readonly reason: string;
}

export function eventDead(failures: readonly DeadDelivery[]): AppError {
  return new AppError("internal", "EVENT_DEAD", "An event could not be delivered", { details: { failures } });
}

export function busClosed(): AppError {
  return new AppError("unavailable", "BUS_CLOSED", "The event bus is closed");
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
