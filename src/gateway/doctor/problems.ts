import { slotAt } from "../network/chain-spec.ts";
import { assessHealth } from "../upstream/health/assess-health.ts";
import type { Inspection } from "./inspection.ts";
import type { Difference, Distances, Finding } from "./report.ts";

/** Maximum lag that is not reported, because missed proposals cause small lags. */
const MAX_SLOTS_BEHIND = 8;

/** Returns the lag of an upstream behind the clock and the other upstreams, and its problems as sentences. */
export function assessPosition(
  inspection: Inspection,
  all: readonly Inspection[],
): Distances & { readonly problems: string[] } {
  const { chainSpec, observedAt, head, failure } = inspection;
  const genesisValidatorsRoot = inspection.genesisValidatorsRoot ?? "";
  const alike = all.filter((other) => other.genesisValidatorsRoot === inspection.genesisValidatorsRoot);
  // The time of the observation: other upstreams may have caused delays since.
  const clockSlot =
    chainSpec === undefined || observedAt === undefined ? Number.POSITIVE_INFINITY : slotAt(chainSpec, observedAt);
  const slotsPerEpoch = chainSpec?.slotsPerEpoch ?? 1;
  const { reasons } = assessHealth(inspection, {
    genesisValidatorsRoot,
    genesisTime: inspection.genesisTime ?? 0,
    clockSlot,
    slotsPerEpoch,
    maxSlotsBehind: MAX_SLOTS_BEHIND,
    all: alike,
  });
  if (failure !== undefined || head === undefined) return { problems: reasons };
  const behindBest = Math.max(...alike.flatMap((other) => other.head?.slot ?? [])) - head.slot;
  if (chainSpec === undefined)
    return { behindBest, problems: [...reasons, "It does not report all required chain parameters."] };
  const behindClock = clockSlot - head.slot;
  const isLate = behindClock > MAX_SLOTS_BEHIND;
  const problems = isLate ? [...reasons, `Its head is ${behindClock} slots behind the clock.`] : reasons;
  return { behindClock, behindBest, problems };
}

/** Returns problems found by testing operations. */
export function operationProblems(findings: readonly Finding[]): string[] {
  const count = (outcome: Finding["outcome"]) =>
    findings.filter((finding) => finding.outcome === outcome || finding.ssz === outcome).length;
  const counts: [count: number, what: string][] = [
    [count("not-ready"), "could not be served because it is not ready"],
    [count("error"), "failed"],
    [count("refused"), "got a refusal"],
    [count("wrong-form"), "returned a result that does not match the standard"],
  ];
  return counts.flatMap(([failed, what]) =>
    failed === 0 ? [] : [`${failed === 1 ? "One operation" : `${failed} operations`} ${what}.`],
  );
}

/** Returns a problem if the upstream's answers differ from the majority, or if there is no majority. */
export function differenceProblems(upstream: string, differences: readonly Difference[]): string[] {
  const requests = new Set(
    differences.flatMap(({ request, said: [most, others] }) => {
      const isOutvoted = others.upstreams.includes(upstream);
      const isEven = most.upstreams.length === others.upstreams.length && most.upstreams.includes(upstream);
      return isOutvoted || isEven ? request : [];
    }),
  );
  if (requests.size === 0) return [];
  return [
    `It answers ${requests.size === 1 ? "one request" : `${requests.size} requests`} differently from other upstreams.`,
  ];
}
