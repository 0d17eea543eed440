import type { HealthState, UpstreamHealth } from "../upstream-health.ts";

/** Last known facts about an upstream. */
export interface Observation extends Omit<UpstreamHealth, "upstream" | "state" | "reasons"> {
  /** Why it cannot be used, as a sentence. */
  readonly failure?: string;
  /** True if the failure is a timeout. */
  readonly isLate?: boolean;
  /** Why it is usable but incomplete, as a sentence. */
  readonly shortcoming?: string;
  readonly genesisValidatorsRoot?: string;
  /** Its head in the last poll. `head` may come from a newer event. */
  readonly polledHead?: UpstreamHealth["head"];
  /** Unix seconds. A restarted dev chain keeps its validators, so the root alone does not identify a chain. */
  readonly genesisTime?: number;
}

/** Baseline for the health of an upstream. */
export interface HealthCriteria {
  readonly genesisValidatorsRoot: string;
  readonly genesisTime: number;
  /** Current slot by the local clock. */
  readonly clockSlot: number;
  readonly slotsPerEpoch: number;
  readonly maxSlotsBehind: number;
  /** All upstreams, including this one. */
  readonly all: readonly Observation[];
}

/** Finality may advance by two epochs at once, and upstreams process that at slightly different times. */
const MAX_EPOCHS_BEHIND = 2;

/** Returns the health state of an upstream, and why it is not ready. */
export function assessHealth(
  observation: Observation,
  criteria: HealthCriteria,
): { state: HealthState; reasons: string[] } {
  const otherChain = genesisMismatch(observation, criteria);
  if (otherChain !== undefined) return { state: "foreign", reasons: [`It is on another chain: ${otherChain}`] };
  const { failure, isLate } = observation;
  if (failure !== undefined) return { state: isLate ? "late" : "down", reasons: [failure] };
  const reasons = [...shortcomings(observation), ...lagReasons(observation, criteria)];
  return { state: reasons.length === 0 ? "ready" : "behind", reasons };
}

function genesisMismatch(
  { genesisValidatorsRoot: root, genesisTime: time }: Observation,
  { genesisValidatorsRoot, genesisTime }: HealthCriteria,
): string | undefined {
  if (root !== undefined && root !== genesisValidatorsRoot) {
    return `its genesis_validators_root is ${root}, but that of the gateway's chain is ${genesisValidatorsRoot}.`;
  }
  if (time === undefined || time === genesisTime) return undefined;
  return `its genesis_time is ${time}, but that of the gateway's chain is ${genesisTime}.`;
}

type ReportedHead = Pick<Observation, "head" | "polledHead" | "failure">;

/** Returns the latest slot at which a head is credible: that of the clock, or later if two upstreams report it. */
export function maxCredibleSlot({
  clockSlot,
  maxSlotsBehind,
  all,
}: Pick<HealthCriteria, "clockSlot" | "maxSlotsBehind"> & { readonly all: readonly ReportedHead[] }): number {
  // Upstreams may have a slightly faster clock.
  const latest = clockSlot + 1;
  const slots = all.flatMap((each) => (each.failure === undefined ? (latestSlot(each) ?? []) : []));
  slots.sort((a, b) => b - a);
  if (slots.length === 1) return Math.max(latest, slots[0]!);
  // A dev chain may run ahead of the local clock, and upstreams are polled at different times.
  return slots.length > 1 && slots[1]! >= latest ? slots[1]! + maxSlotsBehind : latest;
}

/** Returns the later one of the head by events and the polled head. */
function latestSlot({ head, polledHead = head }: ReportedHead): number | undefined {
  return head && Math.max(head.slot, polledHead!.slot);
}

export function isFinalityInFuture({ finalized }: Pick<Observation, "finalized">, criteria: HealthCriteria): boolean {
  return finalized !== undefined && finalized.epoch * criteria.slotsPerEpoch > maxCredibleSlot(criteria);
}

function shortcomings({ shortcoming, isOptimistic, isExecutionOffline }: Observation): string[] {
  return [
    shortcoming ?? [],
    isOptimistic ? "It is optimistic: its execution client has not verified its head." : [],
    isExecutionOffline ? "Its execution client is offline." : [],
  ].flat();
}

function lagReasons(observation: Observation, criteria: HealthCriteria): string[] {
  const { head, finalized, syncDistance = 0 } = observation;
  const { maxSlotsBehind } = criteria;
  const latest = maxCredibleSlot(criteria);
  const others = criteria.all.filter(({ failure }) => failure === undefined);
  const bestHead = highest(
    others.map((other) => other.head?.slot).filter((slot) => slot !== undefined && slot <= latest),
  );
  const bestFinalized = highest(
    others.filter((other) => !isFinalityInFuture(other, criteria)).map((other) => other.finalized?.epoch),
  );
  const ownSlot = latestSlot(observation) ?? 0;
  const reasons: string[] = [];
  if (syncDistance > maxSlotsBehind) reasons.push(`It is syncing, ${syncDistance} slots behind the clock.`);
  if (ownSlot > latest) reasons.push(`Its head is at slot ${ownSlot}, which is in the future.`);
  if (head && bestHead - head.slot > maxSlotsBehind) {
    reasons.push(`Its head is at slot ${head.slot}, but that of another upstream is at ${bestHead}.`);
  }
  if (finalized && bestFinalized - finalized.epoch > MAX_EPOCHS_BEHIND) {
    reasons.push(`It has finalized epoch ${finalized.epoch}, but another upstream epoch ${bestFinalized}.`);
  }
  if (finalized && isFinalityInFuture({ finalized }, criteria)) {
    reasons.push(`It has finalized epoch ${finalized.epoch}, which is in the future.`);
  }
  return reasons;
}

function highest(numbers: readonly (number | undefined)[]): number {
  return Math.max(0, ...numbers.map((number) => number ?? 0));
}
