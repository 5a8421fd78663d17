import { describe, expect, test } from "vitest";
import type { OpenBankStorage } from "./bank-store.conformance.ts";
import { ANSWER_BYTES_MAX, ANSWER_US, CLAIM_US, IDEMPOTENCY_SWEEP_MAX, type IdempotentClaim } from "./idempotency-store.ts";

const startUs = 1_000_000_000;
const aClaim = (parts: Partial<IdempotentClaim> = {}): IdempotentClaim => ({
  tenantId: crypto.randomUUID(),
  keyHash: "k",
  requestHash: "r",
  holder: crypto.randomUUID(),
  nowUs: startUs,
  ...parts,
});
const answer = new Uint8Array([1, 0, 255]);

export function describeIdempotencyStore(name: string, open: OpenBankStorage): void {
  describe(`IdempotencyStore: ${name}`, () => {
    test("a key is claimed once; others learn that it runs, and later what was answered", async () => {
      await using storage = await open();
      const claim = aClaim();
      const other = { ...claim, holder: "other" };
      expect(await storage.idempotency.begin(claim)).toEqual({ outcome: "claimed" });
      expect(await storage.idempotency.begin(other)).toEqual({ outcome: "running" });
      expect(await storage.idempotency.finish({ ...claim, answer })).toBe(true);
      expect(await storage.idempotency.begin(other)).toEqual({ outcome: "replay", answer });
      expect(await storage.idempotency.begin(claim)).toEqual({ outcome: "replay", answer });
    });

    test("of many at once exactly one gets the claim", async () => {
      await using storage = await open();
      const claim = aClaim();
      const standings = await Promise.all(
        Array.from({ length: 20 }, (_, index) => storage.idempotency.begin({ ...claim, holder: String(index) })),
      );
      expect(standings.filter(({ outcome }) => outcome === "claimed")).toHaveLength(1);
      expect(standings.filter(({ outcome }) => outcome === "running")).toHaveLength(19);
    });

    test("another request under the same key is told so, while the first one runs and afterwards", async () => {
      await using storage = await open();
      const claim = aClaim();
      const other = { ...claim, requestHash: "other" };
      await storage.idempotency.begin(claim);
      expect(await storage.idempotency.begin(other)).toEqual({ outcome: "other_request" });
      await storage.idempotency.finish({ ...claim, answer });
      expect(await storage.idempotency.begin(other)).toEqual({ outcome: "other_request" });
    });

    test("keys of other tenants, and keys in another case, are other keys", async () => {
      await using storage = await open();
      const claim = aClaim();
      await storage.idempotency.begin(claim);
      for (const parts of [{ tenantId: crypto.randomUUID() }, { keyHash: "K" }]) {
        expect(await storage.idempotency.begin({ ...claim, ...parts, holder: "other" })).toEqual({ outcome: "claimed" });
      }
    });

    test("a request that is given up may be carried out again, also as another one", async () => {
      await using storage = await open();
      const claim = aClaim();
      await storage.idempotency.begin(claim);
      expect(await storage.idempotency.finish({ ...claim, answer: null })).toBe(true);
      const next = { ...claim, holder: "other", requestHash: "other" };
      expect(await storage.idempotency.begin(next)).toEqual({ outcome: "claimed" });
    });

    test("a claim that is kept up stays; one that is not ends, and its holder can no longer answer", async () => {
      await using storage = await open();
      const claim = aClaim();
      const other = { ...claim, holder: "other" };
      await storage.idempotency.begin(claim);
      await storage.idempotency.begin({ ...claim, nowUs: startUs + CLAIM_US - 1 });
      expect(await storage.idempotency.begin({ ...other, nowUs: startUs + CLAIM_US })).toEqual({ outcome: "running" });
      const lateUs = startUs + 2 * CLAIM_US - 1;
      expect(await storage.idempotency.begin({ ...other, nowUs: lateUs })).toEqual({ outcome: "claimed" });
      expect(await storage.idempotency.finish({ ...claim, answer, nowUs: lateUs })).toBe(false);
      expect(await storage.idempotency.finish({ ...claim, answer: null, nowUs: lateUs })).toBe(false);
      expect(await storage.idempotency.begin({ ...claim, nowUs: lateUs })).toEqual({ outcome: "running" });
    });

    test("an answer is kept for a day from when it was given", async () => {
      await using storage = await open();
      const claim = aClaim();
      await storage.idempotency.begin(claim);
      await storage.idempotency.finish({ ...claim, answer, nowUs: startUs + 5 });
      const other = { ...claim, holder: "other" };
      expect((await storage.idempotency.begin({ ...other, nowUs: startUs + ANSWER_US })).outcome).toBe("replay");
      expect((await storage.idempotency.begin({ ...other, nowUs: startUs + ANSWER_US + 5 })).outcome).toBe("claimed");
    });

    test("an answer may be empty and may have a mebibyte, and not one byte more", async () => {
      await using storage = await open();
      for (const size of [0, ANSWER_BYTES_MAX]) {
        const claim = aClaim();
        await storage.idempotency.begin(claim);
        await storage.idempotency.finish({ ...claim, answer: new Uint8Array(size) });
        expect(await storage.idempotency.begin(claim)).toEqual({ outcome: "replay", answer: new Uint8Array(size) });
      }
      const large = { ...aClaim(), answer: new Uint8Array(ANSWER_BYTES_MAX + 1) };
      await expect(storage.idempotency.finish(large)).rejects.toMatchObject({ code: "invalid_argument" });
    });

    test("a sweep deletes what has ended, in bounded parts, and nothing else", async () => {
      await using storage = await open();
      const tenantId = crypto.randomUUID();
      const claims = Array.from({ length: IDEMPOTENCY_SWEEP_MAX + 1 }, (_, index) =>
        aClaim({ tenantId, keyHash: String(index) }),
      );
      await Promise.all(claims.map((claim) => storage.idempotency.begin(claim)));
      await storage.idempotency.finish({ ...claims[0]!, answer });
      const endUs = startUs + CLAIM_US;
      expect(await storage.idempotency.deleteEnded(endUs - 1)).toBe(0);
      expect(await storage.idempotency.deleteEnded(endUs)).toBe(IDEMPOTENCY_SWEEP_MAX);
      expect(await storage.idempotency.deleteEnded(endUs)).toBe(0);
      expect((await storage.idempotency.begin({ ...claims[0]!, nowUs: endUs })).outcome).toBe("replay");
    });
  });
}
