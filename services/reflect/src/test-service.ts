import type { CallContext } from "@memory-bank/context";
import type { DomainEvent, EventBus, Subscription } from "@memory-bank/events";
import { createVirtualTime, type VirtualTime } from "@memory-bank/lifecycle";
import type { LanguageModel } from "@memory-bank/models";
import type { AuditEntry, Directive } from "@memory-bank/proto/bank/v1/bank";
import { ReflectInternalServiceService, ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { createInProcessMesh, type Rpc } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import { tagFilterFromProto } from "./convert.ts";
import { contentWords } from "./domain/content-words.ts";
import { matchesTags } from "./domain/tags.ts";
import type { MemoryClient } from "./reflect-deps.ts";
import { createReflectService } from "./service.ts";
import { openReflectStore, type ReflectStorage } from "./store/open-reflect-store.ts";

/** A memory of the stand-in for the memory service. */
export interface StoredFact {
  readonly id: string;
  readonly text: string;
  readonly type: string;
  readonly tags: readonly string[];
  /** Commit that wrote or changed it. */
  readonly seq: number;
  readonly isSuperseded: boolean;
  /** Facts that an observation is drawn from. */
  readonly sources: readonly string[];
  readonly atUs: number;
}

/** A bank with memories that are found by their words, and a way to change them. */
export interface MemoryWorld {
  readonly client: MemoryClient;
  add(text: string, parts?: Partial<StoredFact>): string;
  change(id: string, parts: Partial<StoredFact>): void;
  remove(id: string): void;
  /** Requests of each kind so far. */
  readonly calls: { recall: number; findScopeChanges: number };
}

export interface TestService extends AsyncDisposable {
  readonly api: Rpc<typeof ReflectServiceService>;
  readonly internal: Rpc<typeof ReflectInternalServiceService>;
  readonly ctx: CallContext;
  readonly time: VirtualTime;
  readonly world: MemoryWorld;
  readonly directives: Directive[];
  /** Bank configuration, read at every call. */
  readonly config: Record<string, unknown>;
  readonly storage: ReflectStorage;
  /** What went to the audit log. */
  readonly audited: AuditEntry[];
  /** Hands an event to the service as the bus would. */
  tell(payload: unknown): Promise<void>;
  /** Waits in virtual time until the operation is in one of these states. */
  ended(operationId: string): Promise<{ status: string; details: Record<string, unknown>; errorMessage?: string | undefined }>;
}

export const bankId = "bank";
export const bankUid = "uid-1";

/** The service over SQLite in memory, with plain objects for its peers and time that is moved by hand. */
export async function startTestService({
  languageModel = { kind: "local" },
}: {
  readonly languageModel?: LanguageModel;
} = {}): Promise<TestService> {
  const time = createVirtualTime();
  const world = createMemoryWorld(time);
  const directives: Directive[] = [];
  const audited: AuditEntry[] = [];
  const config: Record<string, unknown> = {};
  const storage = await openReflectStore({ kind: "sqlite", file: ":memory:" }, { nowUs: time.now });
  let id = 0;
  let subscription: Subscription | undefined;
  const bus: EventBus = {
    publish: async () => {},
    subscribe: async (given) => {
      subscription = given;
      return { [Symbol.asyncDispose]: async () => {} };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const bank = {
    bankId,
    bankUid,
    name: "Test bank",
    mission: "Help the team.",
    disposition: { skepticism: 3, literalism: 3, empathy: 3 },
    createdAtUs: 0,
    updatedAtUs: 0,
  };
  const service = createReflectService({
    ...storage,
    bus,
    languageModel,
    auditQueue: { add: (entry) => void audited.push(entry) },
    log: silentLogger,
    nowUs: time.now,
    newId: () => `00000000-0000-4000-8000-${String(++id).padStart(12, "0")}`,
    refreshConcurrency: 2,
    timers: time.timers,
    memory: world.client,
    bank: {
      resolveBank: async (_, request) =>
        request.bankId === bankId || request.bankUid === bankUid || request.create
          ? { tenantId: "tenant", bank, config }
          : { tenantId: "tenant", config },
      listDirectives: async (_, { limit, offset }) => ({
        directives: directives.slice(offset, offset + limit),
        total: directives.length,
      }),
    },
  });
  const mesh = createInProcessMesh({ log: silentLogger });
  mesh.bind(service);
  const api = mesh.client(ReflectServiceService);
  const ctx: CallContext = {
    requestId: "test",
    transport: "http",
    deadlineMs: Number.MAX_SAFE_INTEGER,
    signal: new AbortController().signal,
    principal: { tenantId: "tenant", keyId: "key", role: "owner", capabilities: [], allowedBankIds: null },
  };
  await service.start();
  return {
    api,
    internal: mesh.client(ReflectInternalServiceService),
    ctx,
    time,
    world,
    directives,
    config,
    storage,
    audited,
    async tell(payload) {
      const event: DomainEvent = { id: `event-${++id}`, subject: subscription!.subject, payload, occurredAtUs: time.now() };
      await subscription!.handler(event, { attempt: 1, signal: ctx.signal });
    },
    async ended(operationId) {
      const read = () => api.getOperation(ctx, { bankId, operationId, includePayload: false });
      await time.until(async () => ["completed", "failed", "cancelled"].includes((await read()).status));
      const { status, details, errorMessage } = await read();
      return { status, details: details ?? {}, errorMessage };
    },
    async [Symbol.asyncDispose]() {
      const stopped = service.stop();
      await time.advance(10_000);
      await stopped;
      await storage[Symbol.asyncDispose]();
    },
  };
}

function createMemoryWorld(time: VirtualTime): MemoryWorld {
  const facts = new Map<string, StoredFact>();
  const calls = { recall: 0, findScopeChanges: 0 };
  let seq = 0;
  const inScope = (fact: StoredFact, scope: { tags?: Parameters<typeof tagFilterFromProto>[0]; types: readonly string[] }) =>
    matchesTags(fact.tags, tagFilterFromProto(scope.tags)) && (scope.types.length === 0 || scope.types.includes(fact.type));
  return {
    calls,
    add(text, parts = {}) {
      seq += 1;
      const id = parts.id ?? crypto.randomUUID();
      facts.set(id, { id, text, type: "world", tags: [], seq, isSuperseded: false, sources: [], atUs: time.now(), ...parts });
      return id;
    },
    change(id, parts) {
      seq += 1;
      facts.set(id, { ...facts.get(id)!, ...parts, seq });
    },
    remove(id) {
      seq += 1;
      facts.delete(id);
    },
    client: {
      async recall(_, request) {
        calls.recall += 1;
        const asked = new Set(contentWords(request.query));
        const share = ({ text }: StoredFact) => {
          const words = new Set(contentWords(text));
          return asked.size === 0 ? 1 : [...asked].filter((word) => words.has(word)).length / asked.size;
        };
        const hits = [...facts.values()]
          .filter((fact) => inScope(fact, request) && share(fact) > 0)
          .sort((a, b) => Number(a.isSuperseded) - Number(b.isSuperseded) || share(b) - share(a));
        return {
          results: hits.map(({ id, text, type, tags, isSuperseded, sources, atUs }) => ({
            id,
            text,
            type,
            tags: [...tags],
            entities: [],
            context: "",
            metadata: {},
            sourceFactIds: [...sources],
            proofCount: 1,
            mentionedAtUs: atUs,
            terms: isSuperseded ? [{ name: "superseded", value: 1, weight: -1 }] : [],
          })),
          entities: [],
          chunks: [],
          sourceFacts: [],
          sourceFactsTruncated: false,
          commitSeq: seq,
          pendingConsolidation: 0,
        };
      },
      async findScopeChanges(_, { scopes }) {
        calls.findScopeChanges += 1;
        return {
          commitSeq: seq,
          changes: scopes.map(({ tags, factTypes, sinceSeq, citedIds }) => {
            const own = [...facts.values()].filter((fact) => inScope(fact, { ...(tags ? { tags } : {}), types: factTypes }));
            return {
              changedCount: own.filter((fact) => fact.seq > sinceSeq).length,
              missingIds: citedIds.filter((id) => !facts.has(id)),
              ...(own.length > 0 ? { newestUpdatedAtUs: Math.max(...own.map(({ atUs }) => atUs)) } : {}),
            };
          }),
        };
      },
      async expandMemories(_, { memoryIds }) {
        const known = memoryIds.flatMap((id) => facts.get(id) ?? []);
        return { expansions: known.map(({ id, text }) => ({ memoryId: id, text: `Before. ${text} After.`, truncated: false })) };
      },
    },
  };
}
