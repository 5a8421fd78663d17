import { AppError } from "@memory-bank/errors";
import type { Static, TSchema } from "typebox";
import { Check, Errors } from "typebox/value";
import type { DomainEvent } from "./event-bus.ts";

/** A kind of event, shared by its publisher and its readers. */
export interface EventDefinition<S extends TSchema> {
  readonly subject: string;
  readonly schema: S;
  /** Builds an event; throws `internal`, `INVALID_EVENT`, when the payload breaks the schema. */
  create(parts: NewEvent<Static<S>>): DomainEvent<Static<S>>;
  /** The payload of a received event, checked in the same way. Members that the schema does not name are let through. */
  payloadOf(event: DomainEvent): Static<S>;
}

export interface NewEvent<T> {
  readonly id: string;
  readonly occurredAtUs: number;
  readonly payload: T;
  readonly traceparent?: string | undefined;
}

/** Names an event and its payload. A change that old readers would not understand takes a new subject, `...v2`. */
export function defineEvent<S extends TSchema>(subject: string, schema: S): EventDefinition<S> {
  function checked(payload: unknown): Static<S> {
    if (Check(schema, payload)) return payload as Static<S>;
    const fault = Errors(schema, payload)[0];
    const place = fault?.instancePath ?? "";
    throw new AppError("internal", "INVALID_EVENT", `${subject}${place} ${fault?.message ?? "is malformed"}`);
  }
  return {
    subject,
    schema,
    create: ({ id, occurredAtUs, payload, traceparent }) => ({
      id,
      subject,
      occurredAtUs,
      payload: checked(payload),
      ...(traceparent === undefined ? {} : { traceparent }),
    }),
    payloadOf: ({ payload }) => checked(payload),
  };
}
