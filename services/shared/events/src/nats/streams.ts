import { createHash } from "node:crypto";
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  type StreamConfig,
} from "@nats-io/jetstream";
import { DELIVERY_TIMEOUT_MS } from "../event-bus.ts";

/** Names of the two streams of one deployment, and of the subjects in them. */
export interface StreamNames {
  readonly events: string;
  readonly dead: string;
  subjectOf(eventSubject: string): string;
  deadSubjectOf(eventSubject: string): string;
}

export function streamNames(prefix: string): StreamNames {
  return {
    events: prefix,
    dead: `${prefix}_DEAD`,
    subjectOf: (subject) => `${prefix}.event.${subject}`,
    deadSubjectOf: (subject) => `${prefix}.dead.${subject}`,
  };
}

const NS_PER_MS = 1_000_000;
const HOUR_MS = 3_600_000;
const EVENTS_AGE_MS = 7 * 24 * HOUR_MS; // what a subscriber may be away for
const EVENTS_BYTES_MAX = 1024 ** 3; // an event is some hundred bytes, so millions; then the oldest go
const DEAD_AGE_MS = 30 * 24 * HOUR_MS; // dead letters are for people
const DEAD_BYTES_MAX = 256 * 1024 ** 2;
// Outboxes send again what is up to ten minutes old; a repeat that comes later would be delivered twice, which handlers bear.
const DUPLICATE_WINDOW_MS = 20 * 60_000;
const ACK_WAIT_MS = DELIVERY_TIMEOUT_MS + 10_000; // a delivery is judged late by us before the server gives it to another
const ACK_PENDING_MAX = 10_000; // deliveries that pause after a failure count, and must not hold up later ones
const EPHEMERAL_AGE_MS = 60_000; // how long the server keeps a subscriber that went without a word

/** Makes both streams, or brings them in line with this version. Any number of processes may do so at once. */
export async function declareStreams(jsm: JetStreamManager, names: StreamNames, replicas: number): Promise<void> {
  const common = { retention: RetentionPolicy.Limits, discard: DiscardPolicy.Old, num_replicas: replicas };
  await declareStream(jsm, {
    ...common,
    name: names.events,
    subjects: [names.subjectOf(">")],
    max_age: EVENTS_AGE_MS * NS_PER_MS,
    max_bytes: EVENTS_BYTES_MAX,
    duplicate_window: DUPLICATE_WINDOW_MS * NS_PER_MS,
  });
  await declareStream(jsm, {
    ...common,
    name: names.dead,
    subjects: [names.deadSubjectOf(">")],
    max_age: DEAD_AGE_MS * NS_PER_MS,
    max_bytes: DEAD_BYTES_MAX,
    duplicate_window: DUPLICATE_WINDOW_MS * NS_PER_MS,
  });
}

async function declareStream(jsm: JetStreamManager, config: Partial<StreamConfig> & { name: string }): Promise<void> {
  try {
    await jsm.streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    // It is there with other settings; a refusal of these comes from here.
    await jsm.streams.update(config.name, config);
  }
}

export interface ConsumerPlace {
  readonly subject: string;
  /** `null`: for one subscription alone. */
  readonly durable: string | null;
  /** For that: where it begins; `undefined` is "with what comes from now on". */
  readonly fromSequence?: number | undefined;
}

/** Makes the server's side of a subscription and answers its name there. A durable one that is there goes on where it was. */
export async function declareConsumer(jsm: JetStreamManager, names: StreamNames, place: ConsumerPlace): Promise<string> {
  const { subject, durable, fromSequence } = place;
  const config: Partial<ConsumerConfig> = {
    filter_subject: names.subjectOf(subject),
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NS_PER_MS,
    // Tries are counted and ended here, because only this side can write the dead letter.
    max_deliver: -1,
    max_ack_pending: ACK_PENDING_MAX,
  };
  if (durable === null) {
    const start =
      fromSequence === undefined
        ? { deliver_policy: DeliverPolicy.New }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: fromSequence };
    const added = await jsm.consumers.add(names.events, {
      ...config,
      ...start,
      inactive_threshold: EPHEMERAL_AGE_MS * NS_PER_MS,
    });
    return added.name;
  }
  const name = consumerName(durable, subject);
  try {
    await jsm.consumers.add(names.events, { ...config, durable_name: name, deliver_policy: DeliverPolicy.New });
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    await jsm.consumers.update(names.events, name, config);
  }
  return name;
}

/** Readable and unique: server names may hold neither dots nor spaces, so a digest tells apart what they would make the same. */
function consumerName(durable: string, subject: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([durable, subject]))
    .digest("hex")
    .slice(0, 8);
  return `${durable}-${subject}-${digest}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}
