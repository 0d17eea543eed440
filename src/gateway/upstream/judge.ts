import type { Condition, Fitness } from "../condition.ts";

/** What was last seen of an upstream. */
export interface Observation extends Omit<Condition, "upstream" | "fitness" | "reasons"> {
  /** Why it cannot be asked, as a sentence; undefined when it can. */
  readonly failure?: string;
  /** Whether the failure is only that it takes too long. */
  readonly isLate?: boolean;
  /** Why it can be asked, but does not tell all that it should, as a sentence. */
  readonly shortcoming?: string;
  readonly genesisValidatorsRoot?: string;
  /** Unix seconds. A dev chain that is made anew has the validators of the one before. */
  readonly genesisTime?: number;
}

/** What an upstream is measured by. */
export interface Measure {
  readonly genesisValidatorsRoot: string;
  readonly genesisTime: number;
  /** The slot that it is by the clock. */
  readonly clockSlot: number;
  readonly slotsPerEpoch: number;
  readonly maxSlotsBehind: number;
  /** All upstreams, this one among them. */
  readonly all: readonly Observation[];
}

/** At the turn of an epoch some are a little earlier than others. */
const MAX_EPOCHS_BEHIND = 1;

/** How well an upstream can be asked, and why not better. */
export function judge(observation: Observation, measure: Measure): { fitness: Fitness; reasons: string[] } {
  const otherChain = differenceOfGenesis(observation, measure);
  if (otherChain !== undefined) return { fitness: "foreign", reasons: [`It follows another chain: ${otherChain}`] };
  const { failure, isLate } = observation;
  if (failure !== undefined) return { fitness: isLate ? "late" : "down", reasons: [failure] };
  const reasons = [...shortcomings(observation), ...delays(observation, measure)];
  return { fitness: reasons.length === 0 ? "ready" : "behind", reasons };
}

function differenceOfGenesis(
  { genesisValidatorsRoot: root, genesisTime: time }: Observation,
  { genesisValidatorsRoot, genesisTime }: Measure,
): string | undefined {
  if (root !== undefined && root !== genesisValidatorsRoot) {
    return `its genesis_validators_root is ${root}, that of the others is ${genesisValidatorsRoot}.`;
  }
  if (time === undefined || time === genesisTime) return undefined;
  return `its genesis_time is ${time}, that of the others is ${genesisTime}.`;
}

/** The latest slot at which a head is believed: that of the clock, or beyond it what two upstreams tell. */
export function latestCredibleSlot({
  clockSlot,
  maxSlotsBehind,
  all,
}: Omit<Measure, "genesisValidatorsRoot" | "genesisTime">): number {
  const slots = all.flatMap(({ failure, head }) => (failure === undefined && head ? [head.slot] : []));
  slots.sort((a, b) => b - a);
  if (slots.length === 1) return Math.max(clockSlot + 1, slots[0]!);
  // The clock of a dev chain need not be that of this machine. They are not asked at the same moment.
  return Math.max(clockSlot + 1, (slots[1] ?? 0) + maxSlotsBehind);
}

function shortcomings({ shortcoming, isOptimistic, isExecutionOffline }: Observation): string[] {
  return [
    shortcoming ?? [],
    isOptimistic ? "Its execution client has not verified its head yet: it is optimistic." : [],
    isExecutionOffline ? "Its execution client is offline." : [],
  ].flat();
}

function delays({ head, finalized, syncDistance = 0 }: Observation, measure: Measure): string[] {
  const { maxSlotsBehind, slotsPerEpoch } = measure;
  const latest = latestCredibleSlot(measure);
  const others = measure.all.filter(({ failure }) => failure === undefined);
  const bestHead = best(others.map((other) => other.head?.slot).filter((slot) => slot !== undefined && slot <= latest));
  const bestFinalized = best(
    others
      .map((other) => other.finalized?.epoch)
      .filter((epoch) => epoch !== undefined && epoch * slotsPerEpoch <= latest),
  );
  const reasons: string[] = [];
  if (syncDistance > maxSlotsBehind) reasons.push(`It is syncing, ${syncDistance} slots behind the clock.`);
  if (head && head.slot > latest) reasons.push(`It tells of a head at slot ${head.slot}, which is still to come.`);
  if (head && bestHead - head.slot > maxSlotsBehind) {
    reasons.push(`Its head is at slot ${head.slot}, that of another upstream at ${bestHead}.`);
  }
  if (finalized && bestFinalized - finalized.epoch > MAX_EPOCHS_BEHIND) {
    reasons.push(`It has finalized epoch ${finalized.epoch}, another upstream ${bestFinalized}.`);
  }
  if (finalized && finalized.epoch * slotsPerEpoch > latest) {
    reasons.push(`It tells that epoch ${finalized.epoch} is final, which is still to come.`);
  }
  return reasons;
}

function best(numbers: readonly (number | undefined)[]): number {
  return Math.max(0, ...numbers.map((number) => number ?? 0));
}
