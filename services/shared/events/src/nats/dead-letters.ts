import type { JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import type { StreamNames } from "./streams.ts";

export interface DeadLetter {
  readonly subject: string;
  readonly durable: string;
  readonly reason: string;
}

/** The headers of a dead letter; its body is that of the message, byte for byte. */
export const deadLetterHeaders = {
  subject: "Memory-Bank-Subject",
  durable: "Memory-Bank-Durable",
  reason: "Memory-Bank-Reason",
  tries: "Memory-Bank-Tries",
  sequence: "Memory-Bank-Sequence",
} as const;

const REASON_LENGTH_MAX = 500;
const WRITE_TIMEOUT_MS = 5_000;

/** Keeps a message that a subscriber gave up on, with the reason. Writing it again, after a crash, adds nothing. */
export async function writeDeadLetter(
  js: JetStreamClient,
  names: StreamNames,
  message: JsMsg,
  letter: DeadLetter,
): Promise<void> {
  const { subject, durable, reason } = letter;
  const fields = headers();
  fields.set(deadLetterHeaders.subject, subject);
  fields.set(deadLetterHeaders.durable, durable);
  fields.set(deadLetterHeaders.reason, headerText(reason));
  fields.set(deadLetterHeaders.tries, String(message.info.deliveryCount));
  fields.set(deadLetterHeaders.sequence, String(message.seq));
  await js.publish(names.deadSubjectOf(subject), message.data, {
    headers: fields,
    msgID: `${durable} ${message.seq}`,
    timeout: WRITE_TIMEOUT_MS,
  });
}

/** Headers are lines of plain text. */
function headerText(text: string): string {
  return text.slice(0, REASON_LENGTH_MAX).replaceAll(/[^\x20-\x7e]+/g, " ");
}
