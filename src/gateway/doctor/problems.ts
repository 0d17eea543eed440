import { slotAt } from "../chain-facts.ts";
import { judge } from "../upstream/judge.ts";
import type { Examination } from "./examination.ts";
import type { Difference, Distances, Finding } from "./report.ts";

/** A head may be so many slots behind others or the clock before that is called a problem: proposers miss slots. */
const MOST_SLOTS_BEHIND = 8;

/** Where an upstream stands among others, itself among them, and what is wrong with it, in sentences. */
export function standingOf(
  examination: Examination,
  all: readonly Examination[],
): Distances & { readonly problems: string[] } {
  const { facts, observedAt, head, failure } = examination;
  const genesisValidatorsRoot = examination.genesisValidatorsRoot ?? "";
  const alike = all.filter((other) => other.genesisValidatorsRoot === examination.genesisValidatorsRoot);
  // Not that of now: others may have hung meanwhile.
  const clockSlot =
    facts === undefined || observedAt === undefined ? Number.POSITIVE_INFINITY : slotAt(facts, observedAt);
  const slotsPerEpoch = facts?.slotsPerEpoch ?? 1;
  const { reasons } = judge(examination, {
    genesisValidatorsRoot,
    genesisTime: examination.genesisTime ?? 0,
    clockSlot,
    slotsPerEpoch,
    maxSlotsBehind: MOST_SLOTS_BEHIND,
    all: alike,
  });
  if (failure !== undefined || head === undefined) return { problems: reasons };
  const behindBest = Math.max(...alike.flatMap((other) => other.head?.slot ?? [])) - head.slot;
  if (facts === undefined)
    return { behindBest, problems: [...reasons, "It does not tell what is needed of its chain."] };
  const behindClock = clockSlot - head.slot;
  const isLate = behindClock > MOST_SLOTS_BEHIND;
  const problems = isLate ? [...reasons, `Its head is ${behindClock} slots behind the clock.`] : reasons;
  return { behindClock, behindBest, problems };
}

/** What is wrong by how it took the operations. */
export function failingOperations(findings: readonly Finding[]): string[] {
  const count = (outcome: Finding["outcome"]) =>
    findings.filter((finding) => finding.outcome === outcome || finding.ssz === outcome).length;
  const told: [count: number, what: string][] = [
    [count("not-ready"), "had to wait, because it is not ready"],
    [count("error"), "failed"],
    [count("refused"), "met with a refusal"],
    [count("wrong-form"), "gave what the standard does not have there"],
  ];
  return told.flatMap(([failed, what]) =>
    failed === 0 ? [] : [`${failed === 1 ? "One operation" : `${failed} operations`} ${what}.`],
  );
}

/** Who answers otherwise than most; where there is no majority, all whose answers differ. */
export function differingAnswers(upstream: string, differences: readonly Difference[]): string[] {
  const requests = new Set(
    differences.flatMap(({ request, said: [most, others] }) => {
      const isOutvoted = others.upstreams.includes(upstream);
      const isEven = most.upstreams.length === others.upstreams.length && most.upstreams.includes(upstream);
      return isOutvoted || isEven ? request : [];
    }),
  );
  if (requests.size === 0) return [];
  return [`It answers ${requests.size === 1 ? "one request" : `${requests.size} requests`} otherwise than others do.`];
}
