import type { Logger } from "../../log/logger.ts";
import { AmbiguousNetworkError } from "./network-pin.ts";
import { forkEpochName, KNOWN_FORKS, type SpecConstants } from "./spec-constants.ts";

/** Chain spec that an upstream reports. */
interface UpstreamSpec<Spec> {
  readonly upstream: string;
  readonly genesis: Spec;
}

interface Constant<Value> {
  readonly name: string;
  /** Known value, which overrides the reports. */
  readonly expected?: Value | undefined;
  of(spec: SpecConstants): Value | undefined;
}

/**
 * Returns the spec of a network with the known constants, and otherwise those that most of its upstreams report. Logs
 * deviating upstreams. Throws in a tie.
 */
export function majoritySpec<Spec extends SpecConstants>(
  specs: readonly UpstreamSpec<Spec>[],
  known: Partial<SpecConstants> | undefined,
  logger: Pick<Logger, "warn">,
): Spec {
  const agreed = <Value extends string | number>(constant: Constant<Value>) => agreedValue(specs, constant, logger);
  const slotsPerEpoch = agreed({
    name: "SLOTS_PER_EPOCH",
    expected: known?.slotsPerEpoch,
    of: (spec) => spec.slotsPerEpoch,
  })!;
  const secondsPerSlot = agreed({
    name: "SECONDS_PER_SLOT",
    expected: known?.secondsPerSlot,
    of: (spec) => spec.secondsPerSlot,
  })!;
  const presetBase = agreed({ name: "PRESET_BASE", expected: known?.presetBase, of: (spec) => spec.presetBase })!;
  const genesisForkVersion = agreed({
    name: "GENESIS_FORK_VERSION",
    expected: known?.genesisForkVersion,
    of: (spec) => spec.genesisForkVersion,
  });
  const forks = Array.from(KNOWN_FORKS).flatMap((name) => {
    const of = ({ forks }: Partial<SpecConstants>) => forks?.find((fork) => fork.name === name)?.epoch;
    // An upstream that does not know a fork omits it.
    const epoch = agreed({ name: forkEpochName(name), expected: known && of(known), of });
    return epoch === undefined ? [] : [{ name, epoch }];
  });
  forks.sort((a, b) => a.epoch - b.epoch);
  return { ...specs[0]!.genesis, presetBase, secondsPerSlot, slotsPerEpoch, genesisForkVersion, forks };
}

/** Returns undefined if the value is neither known nor reported. */
function agreedValue<Value extends string | number>(
  specs: readonly UpstreamSpec<SpecConstants>[],
  { name, expected, of }: Constant<Value>,
  logger: Pick<Logger, "warn">,
): Value | undefined {
  const reports = specs.flatMap(({ upstream, genesis }) => {
    const value = of(genesis);
    return value === undefined ? [] : [{ upstream, value }];
  });
  const counts = new Map<Value, number>();
  for (const { value } of reports) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [most, second] = [...counts].sort(([, a], [, b]) => b - a);
  if (expected === undefined && second && second[1] === most![1]) {
    const values = reports.map(({ upstream, value }) => `${upstream} has ${value}`).join(", ");
    throw new AmbiguousNetworkError(
      `The upstreams report different values of ${name}, without a majority: ${values}. Remove the wrong ones.`,
    );
  }
  const agreed = expected ?? most?.[0];
  for (const { upstream, value } of reports) {
    if (value === agreed) continue;
    const fields = { upstream, constant: name, value, expected: agreed };
    logger.warn("Upstream reports another constant than the network", fields);
  }
  return agreed;
}
