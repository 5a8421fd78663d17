import type { Meter } from "@memory-bank/telemetry";

/** Everything that this service counts. */
export interface AuthMetrics {
  verified(outcome: "accepted" | "refused"): void;
  created(kind: "top_level" | "scoped" | "tenant"): void;
  revoked(): void;
}

export function createAuthMetrics(meter: Meter): AuthMetrics {
  const verifications = meter.counter({
    name: "auth_key_verifications_total",
    help: "Keys that were presented for verification",
    labels: ["outcome"],
  });
  const creations = meter.counter({ name: "auth_keys_created_total", help: "Keys that were made", labels: ["kind"] });
  const revocations = meter.counter({ name: "auth_keys_revoked_total", help: "Keys that were revoked by name" });
  return {
    verified: (outcome) => verifications.add({ outcome }),
    created: (kind) => creations.add({ kind }),
    revoked: () => revocations.add(),
  };
}
