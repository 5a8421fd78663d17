import type { BankRef, NewDocument, NewEntity, NewUnit } from "../domain/unit.ts";
import type { ConsolidationCommit, RetainCommit, UnitEdit } from "../memory-store.ts";

/** Builders of what a store is given, for tests: everything that a test does not care about has a value. */
export const newBank = (): BankRef => ({
  tenantId: `tenant-${crypto.randomUUID()}`,
  bankId: "bank",
  bankUid: crypto.randomUUID(),
});

const flags = { endsWithQuestion: false, containsQuestion: false, hasTimeExpression: false, hasPlace: false, nameCount: 0 };
export const noConsequences = { events: [], jobs: [] };

let lastUs = 1_700_000_000_000_000;
/** Rising instants, so that "newest" means something. */
export const tick = (): number => (lastUs += 1_000);

export function newUnit(members: Partial<NewUnit> = {}): NewUnit {
  const text = members.text ?? "Maria runs the office";
  const createdAtUs = members.createdAtUs ?? tick();
  return {
    unitId: crypto.randomUUID(),
    type: "world",
    text,
    context: "",
    documentId: undefined,
    chunkId: undefined,
    sessionId: "session",
    passage: 0,
    sentenceIndex: 0,
    author: undefined,
    subject: undefined,
    mentionedAtUs: createdAtUs,
    occurredStartUs: undefined,
    occurredEndUs: undefined,
    tags: [],
    metadata: {},
    observationScopes: undefined,
    features: { intervals: [], flags, pairNorm: 1 },
    tokenCount: 4,
    entityIds: [],
    createdAtUs,
    proofCount: 1,
    sourceUnitIds: [],
    searchTokens: text.toLowerCase().split(" "),
    ...members,
  };
}

export const newEntity = (name: string, kind = "PERSON"): NewEntity => ({ entityId: crypto.randomUUID(), name, kind });

export function newDocument(members: Partial<NewDocument> = {}): NewDocument {
  return {
    documentId: crypto.randomUUID(),
    originalText: "text",
    textLength: 4,
    contentHash: "0".repeat(64),
    tags: [],
    metadata: {},
    retainParams: {},
    ...members,
  };
}

export const retainOf = (bank: BankRef, expectedSeq: number, members: Partial<RetainCommit> = {}): RetainCommit => ({
  bank,
  expectedSeq,
  nowUs: tick(),
  documents: [],
  chunks: [],
  entities: [],
  entityKinds: [],
  units: [],
  links: [],
  ...noConsequences,
  ...members,
});

export const consolidationOf = (
  bank: BankRef,
  expectedSeq: number,
  members: Partial<ConsolidationCommit> = {},
): ConsolidationCommit => ({
  bank,
  expectedSeq,
  nowUs: tick(),
  deletes: [],
  updates: [],
  creates: [],
  links: [],
  done: [],
  failed: [],
  supersedes: [],
  ...noConsequences,
  ...members,
});

export const editOf = (bank: BankRef, unitId: string, members: Partial<UnitEdit> = {}): UnitEdit => ({
  bank,
  unitId,
  nowUs: tick(),
  ...noConsequences,
  ...members,
});
