import { hash } from "node:crypto";
import { type Principal, type Role, systemContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import { defineEvent, type EventBus } from "@memory-bank/events";
import type { AuthInternalServiceService, VerifyKeyResponse } from "@memory-bank/proto/auth/v1/auth";
import type { Rpc } from "@memory-bank/rpc";
import { Type } from "typebox";

export interface KeyVerifierDeps {
  readonly auth: Pick<Rpc<AuthInternalServiceService>, "verifyKey">;
  readonly bus: Pick<EventBus, "subscribe">;
  /** Microseconds since 1970, never set back. */
  readonly nowUs: () => number;
  /** For the request ids of the questions, which belong to no single request. */
  readonly newId: () => string;
}

/** Answers whose a key is, mostly from memory. Key texts are not kept beyond the call, only their SHA-256. */
export interface KeyVerifier extends AsyncDisposable {
  /** Begins to listen for revocations. Until then nothing is remembered, and every key is asked for. */
  start(): Promise<void>;
  /** Whose key it is. `unauthenticated` for a bad key; `unavailable` when auth cannot tell, never the other way round. */
  verify(apiKey: string): Promise<Principal>;
  /** Forgets keys that were revoked, and refuses verifications of them that are under way. Call it before a revocation is answered. */
  forget(keyIds: readonly string[]): void;
}

/** How long an answer may be used, from when the question was sent: a revocation that no event told of holds by then. */
const answerLifeUs = 1_000_000;
/** Keys remembered at most, the most recently used. An entry takes about 1 KiB. */
const rememberedKeysMax = 10_000;
/** Questions to auth at once: far more than it answers in the time that they may take. */
const questionsMax = 5_000;
/** Waiting for auth longer than this would only pile up requests. */
const verifyTimeoutMs = 5_000;
/** What a 503 tells the caller to wait. */
const retryAfterMs = 30_000;

/** The form of a key. Auth checks the checksum too; this spares it a call for anything that was never a key. */
const keyForm = /^hsk_[0-9A-Za-z]{54}$/;

const keyRevoked = defineEvent("key.revoked.v1", Type.Object({ keyIds: Type.Array(Type.String()) }));

/** What auth said of a key, when it was asked. */
interface Answer {
  readonly principal: Principal;
  /** The key and its parent: revoking either ends it. */
  readonly lineageKeyIds: readonly string[];
  readonly expiresAtUs: number | null;
  readonly askedAtUs: number;
}

/** A question to auth, shared by all who ask it before the answer is there. */
interface Question {
  readonly askedAtUs: number;
  readonly answer: Promise<Answer>;
  /** What was revoked since it was asked: auth may have read the key before that. */
  readonly revokedKeyIds: Set<string>;
}

export function createKeyVerifier({ auth, bus, nowUs, newId }: KeyVerifierDeps): KeyVerifier {
  const answers = new Map<string, Answer>(); // least recently used first
  const questions = new Map<string, Question>(); // the newest of each key, by digest like the answers
  const underWay = new Set<Question>(); // all that wait for auth, older ones of the same key too
  let generation = 0; // counts revocations
  let subscription: AsyncDisposable | undefined;

  const forget = (keyIds: readonly string[]) => {
    generation++;
    const revoked = new Set(keyIds);
    for (const question of underWay) for (const keyId of keyIds) question.revokedKeyIds.add(keyId);
    for (const [digest, { lineageKeyIds }] of answers) {
      if (lineageKeyIds.some((keyId) => revoked.has(keyId))) answers.delete(digest);
    }
  };

  const remember = (digest: string, answer: Answer) => {
    answers.delete(digest);
    answers.set(digest, answer);
    if (answers.size > rememberedKeysMax) for (const oldest of answers.keys()) return void answers.delete(oldest);
  };

  /** Asks in the gateway's own name: others may wait for the same answer when the first caller hangs up. */
  const verifyKey = async (apiKey: string, askedAtUs: number): Promise<VerifyKeyResponse> => {
    try {
      return await auth.verifyKey(systemContext(newId(), Math.ceil(askedAtUs / 1_000) + verifyTimeoutMs), { apiKey });
    } catch (error) {
      // By reason, not by code: a gateway that auth does not take for a member of the mesh is `unauthenticated`, too.
      if (isAppError(error, "KEY_REFUSED")) throw invalidKey();
      throw unavailable(error);
    }
  };

  const ask = (digest: string, apiKey: string): Question => {
    if (underWay.size >= questionsMax) throw unavailable();
    const [askedAtUs, askedInGeneration] = [nowUs(), generation];
    const revokedKeyIds = new Set<string>();
    const answered = async (): Promise<Answer> => {
      try {
        const answer = answerOf(await verifyKey(apiKey, askedAtUs), askedAtUs);
        if (answer.lineageKeyIds.some((keyId) => revokedKeyIds.has(keyId))) throw invalidKey();
        if (subscription && generation === askedInGeneration) remember(digest, answer);
        return answer;
      } finally {
        underWay.delete(question);
        if (questions.get(digest) === question) questions.delete(digest);
      }
    };
    const question: Question = { askedAtUs, answer: Promise.resolve().then(answered), revokedKeyIds };
    underWay.add(question);
    questions.set(digest, question);
    return question;
  };

  return {
    async start() {
      subscription = await bus.subscribe({
        subject: keyRevoked.subject,
        durable: null,
        handler: async (event) => forget(keyRevoked.payloadOf(event).keyIds),
      });
    },
    async verify(apiKey) {
      if (!keyForm.test(apiKey)) throw invalidKey();
      const digest = hash("sha256", apiKey, "base64");
      const isFresh = ({ askedAtUs }: { askedAtUs: number }) => nowUs() - askedAtUs < answerLifeUs;
      const remembered = answers.get(digest);
      if (remembered && isFresh(remembered)) {
        remember(digest, remembered);
        return livePrincipal(remembered, nowUs());
      }
      const pending = questions.get(digest);
      const question = pending && isFresh(pending) ? pending : ask(digest, apiKey);
      return livePrincipal(await question.answer, nowUs());
    },
    forget,
    async [Symbol.asyncDispose]() {
      const ended = subscription;
      subscription = undefined;
      answers.clear();
      await ended?.[Symbol.asyncDispose]();
    },
  };
}

function answerOf(response: VerifyKeyResponse, askedAtUs: number): Answer {
  const { tenantId, keyId, role, capabilities, lineageKeyIds, expiresAtUs } = response;
  const allowedBankIds = response.allowedBankIds?.values ?? null;
  const principal = { tenantId, keyId, role: role as Role, capabilities, allowedBankIds };
  return { principal, lineageKeyIds, expiresAtUs: expiresAtUs ?? null, askedAtUs };
}

function livePrincipal({ principal, expiresAtUs }: Answer, nowUs: number): Principal {
  if (expiresAtUs !== null && nowUs >= expiresAtUs) throw invalidKey();
  return principal;
}

const invalidKey = () => new AppError("unauthenticated", "KEY_REFUSED", "Authentication failed: Invalid API key");

const unavailable = (cause?: unknown) =>
  new AppError("unavailable", "AUTH_UNAVAILABLE", "Service temporarily unavailable", { retryAfterMs, cause });
