import { createHash } from "node:crypto";

/** The id of the delivery of one notification to one webhook: the same whenever the same event is handled again. */
export function deliveryId(notificationKey: string, webhookId: string): string {
  return uuidFrom(`delivery\0${notificationKey}\0${webhookId}`);
}

/** A UUID that stands for `text`; in the form of version 4, which is what the contract promises for ids. */
export function uuidFrom(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
