import { createHmac } from "node:crypto";
import { signingKey } from "./secret.ts";

/** The value of `X-Hindsight-Signature`: over the exact body, keyed with the secret as UTF-8. */
export function hindsightSignature(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** The value of `webhook-signature` (Standard Webhooks): one signature per secret, the newest first. */
export function standardSignatures(
  secrets: readonly string[],
  message: { readonly id: string; readonly timestampSeconds: number; readonly body: Uint8Array },
): string {
  const head = `${message.id}.${message.timestampSeconds}.`;
  const sign = (secret: string) => createHmac("sha256", signingKey(secret)).update(head).update(message.body).digest("base64");
  return secrets.map((secret) => `v1,${sign(secret)}`).join(" ");
}
