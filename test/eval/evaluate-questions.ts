import { startProcess } from "../modes/process.ts";
import { type Api, createApi, finished } from "../support/api.ts";
import type { Question, QuestionCase } from "./question-cases.ts";

export type Embeddings = "lexical" | "local";

export interface QuestionFigures {
  readonly questions: number;
  /** Of the questions said not to be held those that are not, and of those that are not held the ones said so. */
  readonly abstentionPrecision: number;
  readonly abstentionRecall: number;
  /** Questions whose answer holds every expected word, of those about one fact and of those about several. */
  readonly oneFact: number;
  readonly severalFacts: number;
  readonly citations: number;
  /** Citations of a living memory that holds the cited words, which the answer shows; and answers that show nothing else. */
  readonly citationCorrectness: number;
  readonly replacements: number;
  /** Notes that rank below the one that replaced them, or are not found at all. */
  readonly replacedBelow: number;
  /** One line per wrong answer. */
  readonly mistakes: readonly string[];
}

/** Notes are told this far apart, in ms: sooner they could be one and the same event. */
const restMs = 3 * 86_400_000;
const startMs = Date.UTC(2026, 0, 5, 9);

/** Tells each case to a bank of its own in a started service that answers by rules, and asks over REST. */
export async function evaluateQuestions(cases: readonly QuestionCase[], embeddings: Embeddings): Promise<QuestionFigures> {
  const service = await startProcess({ env: { EMBEDDINGS_PROVIDER: embeddings, LLM_PROVIDER: "local" } });
  try {
    const api = createApi({ url: service.url, key: service.ownerKey });
    const verdicts: Verdict[] = [];
    const orders: Order[] = [];
    for (const [i, one] of cases.entries()) {
      const bankId = `questions-${i}`;
      await tell(api, bankId, one.notes);
      for (const question of one.questions) verdicts.push(await judge(api, bankId, question));
      for (const pair of one.replaced) orders.push(await rank(api, bankId, pair));
    }
    return figuresOf(verdicts, orders);
  } finally {
    await service.stop();
  }
}

const pathOf = (bankId: string): string => `/v1/default/banks/${bankId}`;

async function tell(api: Api, bankId: string, notes: readonly string[]): Promise<void> {
  await call(api, "PUT", pathOf(bankId), { enable_auto_consolidation: false });
  for (const [day, content] of notes.entries()) {
    const timestamp = new Date(startMs + day * restMs).toISOString();
    await call(api, "POST", `${pathOf(bankId)}/memories`, { items: [{ content, timestamp, document_id: documentOf(day) }] });
  }
  const { operation_id: id } = await call<{ operation_id: string }>(api, "POST", `${pathOf(bankId)}/consolidate`, {});
  const { status, error_message: error } = await finished(api, bankId, id);
  if (status !== "completed") throw new Error(`consolidation of ${bankId} ${status}: ${error}`);
}

const documentOf = (note: number): string => `note-${note}`;

interface Verdict {
  readonly question: Question;
  readonly isAnswered: boolean;
  /** Expected words that the answer lacks. */
  readonly lacking: readonly string[];
  readonly citations: number;
  readonly wrongCitations: readonly string[];
  readonly text: string;
}

interface Citation {
  readonly id: string;
  readonly text: string;
}

async function judge(api: Api, bankId: string, question: Question): Promise<Verdict> {
  const { text, based_on: basedOn } = await call<{ text: string; based_on: { memories: Citation[] } }>(
    api,
    "POST",
    `${pathOf(bankId)}/reflect`,
    { query: question.query, include: { facts: {} } },
  );
  const shown = text.split("\n").flatMap((line) => /^- (.*?)(?: \(\d{4}-\d\d-\d\d\))?$/.exec(line)?.[1] ?? []);
  const wrongCitations: string[] = [];
  for (const { id, text: cited } of basedOn.memories) {
    const { status, body } = await api("GET", `${pathOf(bankId)}/memories/${id}`);
    const isRight = status === 200 && body.state === "valid" && folded(body.text).includes(folded(cited));
    if (!isRight || !shown.some((line) => folded(cited).includes(folded(line)))) wrongCitations.push(cited);
  }
  const uncited = shown.filter((line) => !basedOn.memories.some((memory) => folded(memory.text).includes(folded(line))));
  return {
    question,
    isAnswered: !text.includes("does not hold an answer"),
    lacking: question.expected.filter((word) => !folded(text).includes(folded(word))),
    citations: basedOn.memories.length + uncited.length,
    wrongCitations: [...wrongCitations, ...uncited],
    text,
  };
}

const folded = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, " ").trim();

interface Order {
  readonly isRight: boolean;
  readonly mistake: string;
}

/** Observations are left out: they stand for both notes. */
async function rank(api: Api, bankId: string, { query, earlier, later }: QuestionCase["replaced"][number]): Promise<Order> {
  const { results } = await call<{ results: { document_id?: string; text: string }[] }>(
    api,
    "POST",
    `${pathOf(bankId)}/memories/recall`,
    { query, types: ["world", "experience"] },
  );
  const rankOf = (note: number) => results.findIndex((result) => result.document_id === documentOf(note));
  const [old, current] = [rankOf(earlier), rankOf(later)];
  return {
    isRight: current >= 0 && (old < 0 || current < old),
    mistake: `${query}: the replaced note ranks ${old}, its successor ${current} (-1: not found)`,
  };
}

async function call<T>(api: Api, method: string, path: string, body: unknown): Promise<T> {
  const answer = await api<T>(method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

function figuresOf(verdicts: readonly Verdict[], orders: readonly Order[]): QuestionFigures {
  const of = (kind: Question["kind"]) => verdicts.filter(({ question }) => question.kind === kind);
  const isHeld = ({ question }: Verdict) => question.kind !== "not held";
  const isRight = (verdict: Verdict) =>
    isHeld(verdict) ? verdict.isAnswered && verdict.lacking.length === 0 : !verdict.isAnswered;
  const abstained = verdicts.filter(({ isAnswered }) => !isAnswered);
  const citations = verdicts.reduce((sum, verdict) => sum + verdict.citations, 0);
  const wrong = verdicts.reduce((sum, { wrongCitations }) => sum + wrongCitations.length, 0);
  return {
    questions: verdicts.length,
    abstentionPrecision: share(abstained.filter((one) => !isHeld(one)).length, abstained.length),
    abstentionRecall: share(abstained.filter((one) => !isHeld(one)).length, of("not held").length),
    oneFact: share(of("one fact").filter(isRight).length, of("one fact").length),
    severalFacts: share(of("several facts").filter(isRight).length, of("several facts").length),
    citations,
    citationCorrectness: share(citations - wrong, citations),
    replacements: orders.length,
    replacedBelow: share(orders.filter((order) => order.isRight).length, orders.length),
    mistakes: [
      ...verdicts
        .filter((one) => !isRight(one))
        .map(({ question, text }) => `${question.kind}: ${question.query} -> ${text.replaceAll("\n", " | ")}`),
      ...verdicts.flatMap(({ question, wrongCitations }) =>
        wrongCitations.map((cited) => `citation: ${question.query} -> ${cited}`),
      ),
      ...orders.filter((order) => !order.isRight).map(({ mistake }) => `order: ${mistake}`),
    ],
  };
}

const share = (part: number, whole: number): number => part / Math.max(1, whole);
