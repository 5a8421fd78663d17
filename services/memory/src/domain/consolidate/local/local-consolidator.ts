import { familyOf } from "../../fact.ts";
import { noUsage } from "../../token-usage.ts";
import type { Unit } from "../../unit.ts";
import type { ConsolidationInput, Consolidator, Proposal, ShownObservation, Statement } from "../consolidator.ts";
import { relationOf, restates } from "./compare-claims.ts";
import type { Claim } from "./english-claims.ts";
import { readStatement } from "./read-statement.ts";

/**
 * Consolidation by rules: deterministic, without a model, in the sources' own words.
 *
 * An observation needs two facts at least: restatements of one thing, which it counts as proof, or statements about one topic of
 * which a later one replaces an earlier one. Its text is the text of one of its sources: of those that hold now, the one that says
 * most. A single fact stays as it is, for an observation would only repeat it. Facts that a later one replaced stay sources, so
 * that the past can be looked up; they are superseded. Asked again about what it has settled, it proposes nothing.
 */
export function createLocalConsolidator(): Consolidator {
  return {
    propose,
    async mergeTwins({ text, existing }) {
      const [fresh, old] = [readText(text), readText(existing.text)];
      const isSame = fresh.isNegated === old.isNegated && (restates(fresh, old) || sameSet(fresh.terms, old.terms));
      if (!isSame) return { text: undefined, usage: noUsage };
      return { text: fresh.terms.size > old.terms.size ? text : existing.text, usage: noUsage };
    },
  };
}

async function propose(input: ConsolidationInput): Promise<Proposal> {
  const clusters: Cluster[] = [];
  const settled = new Set<string>();
  for (const fact of input.facts) {
    input.signal.throwIfAborted();
    const reading = readStatement(fact);
    for (const claim of reading.claims) {
      const key = `${fact.unitId} ${claim.topic}`;
      if (settled.has(key)) continue;
      const found = (await topicClusters(input, fact, claim.topic)).find((cluster) =>
        cluster.members.some((member) => member.unitId === fact.unitId),
      );
      if (!found) continue;
      for (const { unitId } of found.members) settled.add(`${unitId} ${claim.topic}`);
      clusters.push(found);
    }
    const restated = await restatements(input, fact);
    if (restated && !restated.members.every((member) => settled.has(`${member.unitId} restated`))) {
      for (const { unitId } of restated.members) settled.add(`${unitId} restated`);
      const isCovered = clusters.some((cluster) =>
        restated.members.every((member) => cluster.members.some((own) => own.unitId === member.unitId)),
      );
      if (!isCovered) clusters.push(restated);
    }
  }
  return merge(input, clusters);
}

/** Facts that become one observation. */
interface Cluster {
  /** What all members make a claim on; undefined where they only say the same. */
  readonly topic: string | undefined;
  /** Newest first. */
  readonly members: readonly Unit[];
  /** The member whose words the observation takes. */
  readonly spokesman: Unit;
  /** Members that no longer hold, with the one that ended them. */
  readonly supersedes: Proposal["supersedes"];
}

/** What the facts of the scope say on one topic: each cluster has one statement that holds now, at the head. */
async function topicClusters(input: ConsolidationInput, fact: Unit, topic: string): Promise<Cluster[]> {
  const claimOf = (unit: Statement): Claim | undefined => readStatement(unit).claims.find((claim) => claim.topic === topic);
  const others = await input.around.factsWithTerms(claimOf(fact)!.cues, (other) => claimOf(other) !== undefined);
  const units = [...new Map([...input.facts.filter(claimOf), ...others].map((unit) => [unit.unitId, unit])).values()]
    .filter((unit) => familyOf(unit.type) === familyOf(fact.type))
    .sort(byRecency);
  const groups: { head: Unit; agreeing: Unit[]; excluded: Unit[] }[] = [];
  for (const unit of units) {
    const claim = claimOf(unit)!;
    const related = groups
      .map((group) => ({ group, relation: relationOf(claimOf(group.head)!, claim) }))
      .find(({ relation }) => relation !== "unrelated");
    if (!related) groups.push({ head: unit, agreeing: [unit], excluded: [] });
    else if (related.relation === "agrees") related.group.agreeing.push(unit);
    else related.group.excluded.push(unit);
  }
  return groups
    .filter(({ agreeing, excluded }) => agreeing.length + excluded.length > 1)
    .map(({ head, agreeing, excluded }) => ({
      topic,
      members: [...agreeing, ...excluded].sort(byRecency),
      spokesman: spokesmanOf(agreeing),
      supersedes: excluded.map((unit) => ({ unitId: unit.unitId, byId: head.unitId })),
    }));
}

/** Facts without a topic of their own that say the same in nearly the same words. */
async function restatements(input: ConsolidationInput, fact: Unit): Promise<Cluster | undefined> {
  const reading = readStatement(fact);
  if (reading.claims.length > 0 || fact.text.includes("?")) return undefined;
  const isTwin = (other: Statement): boolean =>
    other.unitId !== fact.unitId &&
    familyOf(other.type) === familyOf(fact.type) &&
    isSameVoice(other, fact) &&
    isSameTime(other, fact) &&
    readStatement(other).claims.length === 0 &&
    restates(readStatement(other), reading);
  const near = [...input.facts.filter(isTwin), ...(await input.around.similarFacts(fact, isTwin))];
  const twins = [...new Map(near.map((unit) => [unit.unitId, unit])).values()];
  if (twins.length === 0) return undefined;
  const members = [fact, ...twins].sort(byRecency);
  return { topic: undefined, members, spokesman: spokesmanOf(members), supersedes: [] };
}

/** Of two speakers each speaks of their own; a note without a speaker may repeat either. */
function isSameVoice(a: Statement, b: Statement): boolean {
  return a.author === b.author || ((a.author === undefined || b.author === undefined) && a.subject === b.subject);
}

/** Events with other dates are other events. */
function isSameTime(a: Statement, b: Statement): boolean {
  if (a.occurredStartUs === undefined || b.occurredStartUs === undefined) return a.occurredStartUs === b.occurredStartUs;
  return (
    a.occurredStartUs <= (b.occurredEndUs ?? b.occurredStartUs) && b.occurredStartUs <= (a.occurredEndUs ?? a.occurredStartUs)
  );
}

/** Of statements that agree the one that speaks of nothing else, then the one that says most, then the earliest. */
function spokesmanOf(units: readonly Unit[]): Unit {
  return units.toSorted((a, b) => {
    const [left, right] = [readStatement(a), readStatement(b)];
    return (
      Math.max(1, left.claims.length) - Math.max(1, right.claims.length) || right.terms.size - left.terms.size || -byRecency(a, b)
    );
  })[0]!;
}

function byRecency(a: Unit, b: Unit): number {
  return (
    readStatement(b).sinceUs - readStatement(a).sinceUs ||
    (b.mentionedAtUs ?? 0) - (a.mentionedAtUs ?? 0) ||
    b.createdAtUs - a.createdAtUs ||
    (a.unitId < b.unitId ? 1 : -1)
  );
}

/** Fits the clusters into the observations that are there: each takes over those drawn from its facts about the same thing. */
async function merge({ around }: ConsolidationInput, clusters: readonly Cluster[]): Promise<Proposal> {
  const updates: { observationId: string; text: string; sourceIds: string[] }[] = [];
  const creates: { text: string; sourceIds: string[] }[] = [];
  const deletes = new Set<string>();
  const taken = new Set<string>();
  for (const cluster of clusters) {
    const { members, spokesman } = cluster;
    const sourceIds = members.map((member) => member.unitId);
    const drawn = (await around.observationsOf(sourceIds)).filter(
      (shown) => !taken.has(shown.observation.unitId) && !deletes.has(shown.observation.unitId) && isAbout(shown, cluster),
    );
    const [first, ...others] = drawn;
    if (!first) {
      creates.push({ text: spokesman.text, sourceIds });
      continue;
    }
    taken.add(first.observation.unitId);
    for (const { observation } of others) deletes.add(observation.unitId);
    updates.push({ observationId: first.observation.unitId, text: spokesman.text, sourceIds });
  }
  return {
    deletes: [...deletes],
    updates,
    creates,
    supersedes: clusters.flatMap((cluster) => cluster.supersedes),
    usage: noUsage,
  };
}

/** Whether an observation was drawn for what the cluster is about: its sources all make a claim on it, or say the same. */
function isAbout({ observation, sources }: ShownObservation, { topic, spokesman }: Cluster): boolean {
  if (topic === undefined) return restates(readText(observation.text), readStatement(spokesman));
  return sources.every((source) => readStatement(source).claims.some((claim) => claim.topic === topic));
}

const readText = (text: string) =>
  readStatement({
    unitId: "",
    type: "observation",
    text,
    author: undefined,
    subject: undefined,
    mentionedAtUs: undefined,
    occurredStartUs: undefined,
    occurredEndUs: undefined,
    createdAtUs: 0,
  });

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((term) => b.has(term));
