// Checks answers against the chain spec of the gateway.

import { type ChainSpec, forkAt } from "../network/chain-spec.ts";
import { forkEpochName, KNOWN_FORKS, PRESETS } from "../network/spec-constants.ts";
import { memberOf } from "../upstream/client/json-fields.ts";

/** Forks that an answer states. */
interface StatedForks {
  /** The header `Eth-Consensus-Version`. */
  readonly header?: string | undefined;
  /** The member `version` of JSON. */
  readonly version?: string | undefined;
}

/**
 * Returns why an answer about a slot cannot be of the stated forks, or undefined. Accepts forks that are unknown or not
 * scheduled: the upstream may know a later schedule than the gateway.
 */
export function findForkViolation(
  { header, version }: StatedForks,
  slot: number | undefined,
  chainSpec: ChainSpec,
): string | undefined {
  const [fromHeader, fromVersion] = [header?.toLowerCase(), version?.toLowerCase()];
  if (fromHeader !== fromVersion && isKnown(fromHeader) && isKnown(fromVersion))
    return `version is ${fromVersion}, but Eth-Consensus-Version is ${fromHeader}`;
  const stated = fromVersion ?? fromHeader;
  if (slot === undefined || stated === undefined) return undefined;
  const expected = forkAt(chainSpec, slot);
  if (stated === expected || !isSettled(stated, chainSpec) || !isSettled(expected, chainSpec)) return undefined;
  const source = version === undefined ? "Eth-Consensus-Version" : "version";
  return `${source} is ${stated}, but slot ${slot} is of ${expected}`;
}

const isKnown = (fork: string | undefined): boolean => fork !== undefined && KNOWN_FORKS.has(fork);

/** True if the fork is scheduled and cannot be rescheduled. */
function isSettled(fork: string, { forks }: ChainSpec): boolean {
  return forks.some(({ name, isUpcoming }) => name === fork && isUpcoming !== true);
}

/** Returns why the data of `/eth/v1/config/spec` cannot be that of the network, or undefined. Accepts omissions. */
export function findSpecViolation(spec: unknown, chainSpec: ChainSpec): string | undefined {
  const { presetBase, secondsPerSlot, slotsPerEpoch, genesisForkVersion, forks } = chainSpec;
  const expected: [name: string, value: string | number | undefined][] = [
    ["PRESET_BASE", presetBase],
    ["SLOTS_PER_EPOCH", slotsPerEpoch],
    ["SLOT_DURATION_MS", secondsPerSlot * 1000],
    ["SECONDS_PER_SLOT", secondsOf(spec, chainSpec)],
    ["GENESIS_FORK_VERSION", genesisForkVersion],
  ];
  for (const { name, epoch, isUpcoming } of forks) if (!isUpcoming) expected.push([forkEpochName(name), epoch]);
  for (const [name, value] of expected) {
    const found = memberOf(spec, name);
    if (value === undefined || found === undefined) continue;
    const isEqual = typeof value === "number" ? Number(found) === value : String(found).toLowerCase() === value;
    if (!isEqual) return `${name} is ${String(found)}, but the network has ${value}`;
  }
  return undefined;
}

/**
 * Returns the expected `SECONDS_PER_SLOT`, or undefined for any. Clients that read `SLOT_DURATION_MS` may leave it at
 * the default of the preset, and cannot express fractions.
 */
function secondsOf(spec: unknown, { presetBase, secondsPerSlot }: ChainSpec): number | undefined {
  if (memberOf(spec, "SLOT_DURATION_MS") === undefined) return secondsPerSlot;
  const isDefault = Number(memberOf(spec, "SECONDS_PER_SLOT")) === PRESETS[presetBase].secondsPerSlot;
  return isDefault || !Number.isInteger(secondsPerSlot) ? undefined : secondsPerSlot;
}
