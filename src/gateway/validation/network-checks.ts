// Checks answers against the chain spec of the gateway.

import { type ChainSpec, forkAt } from "../network/chain-spec.ts";
import { decimalOf, forkEpochName, KNOWN_FORKS, PRESETS } from "../network/spec-constants.ts";
import { memberOf } from "../upstream/client/json-fields.ts";

/** Forks that an answer states. */
interface StatedForks {
  /** The header `Eth-Consensus-Version`. */
  readonly header?: string | undefined;
  /** The member `version` of JSON. */
  readonly version?: string | undefined;
}

/**
 * Returns why an answer about a slot cannot belong to the stated forks, or undefined. Accepts forks that are unknown or
 * not scheduled: the upstream may know a later schedule than the gateway.
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

/** Returns the fork of a slot, or undefined if the fork may be rescheduled. */
export function settledForkAt(chainSpec: ChainSpec, slot: number): string | undefined {
  const fork = forkAt(chainSpec, slot);
  return isSettled(fork, chainSpec) ? fork : undefined;
}

/** True if a settled fork starts after the slot, so that no new fork can be scheduled before the slot. */
export function isFollowed({ forks, slotsPerEpoch }: ChainSpec, slot: number): boolean {
  return forks.some(({ epoch, isUpcoming }) => epoch * slotsPerEpoch > slot && isUpcoming !== true);
}

/** True if the first fork precedes the second one in the specification. */
export function isBefore(fork: string, other: string): boolean {
  const forkNames = [...KNOWN_FORKS];
  return forkNames.indexOf(fork) < forkNames.indexOf(other);
}

/** The fork in a state. */
export interface StateFork {
  readonly current_version: string;
  readonly epoch: string;
}

/** Returns why the state of a slot cannot have a fork, or undefined. */
export function findForkOfStateViolation(
  { current_version, epoch }: StateFork,
  slot: number,
  chainSpec: ChainSpec,
): string | undefined {
  const fork = settledForkAt(chainSpec, slot);
  const start = chainSpec.forks.find(({ name }) => name === fork)?.epoch;
  if (start === undefined) return undefined;
  const reportedEpoch = Number(epoch);
  const mayBeLater =
    reportedEpoch > start && reportedEpoch * chainSpec.slotsPerEpoch <= slot && !isFollowed(chainSpec, slot);
  if (reportedEpoch !== start && !mayBeLater)
    return `has epoch ${epoch}, but slot ${slot} is of ${fork}, from epoch ${start} on`;
  const version = onlyGenesisVersion(chainSpec);
  if (reportedEpoch !== 0 || version === undefined || isEqualTo(version, current_version)) return undefined;
  return `has current_version ${current_version}, but the network has ${version}`;
}

const isKnown = (fork: string | undefined): boolean => fork !== undefined && KNOWN_FORKS.has(fork);

/** True if the fork is scheduled and cannot be rescheduled. */
export function isSettled(fork: string, { forks }: ChainSpec): boolean {
  return forks.some(({ name, isUpcoming }) => name === fork && isUpcoming !== true);
}

/** Returns why the member `data` of an answer contradicts the network, or undefined. */
type NetworkCheck = (data: unknown, chainSpec: ChainSpec) => string | undefined;

/** Checks of the operations that describe the network, by path. */
export const NETWORK_CHECKS: ReadonlyMap<string | undefined, NetworkCheck> = new Map([
  ["/eth/v1/config/spec", findSpecViolation],
  ["/eth/v1/beacon/genesis", findGenesisViolation],
  ["/eth/v1/config/fork_schedule", findScheduleViolation],
]);

/** Accepts missing members. */
function findSpecViolation(spec: unknown, chainSpec: ChainSpec): string | undefined {
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
    const reported = memberOf(spec, name);
    if (value === undefined || reported === undefined || isEqualTo(value, reported)) continue;
    return `data.${name} is ${shown(reported)}, but the network has ${value}`;
  }
  return undefined;
}

function findGenesisViolation(genesis: unknown, chainSpec: ChainSpec): string | undefined {
  const expected: [name: string, value: string | number | undefined][] = [
    ["genesis_validators_root", chainSpec.genesisValidatorsRoot],
    ["genesis_time", chainSpec.genesisTime],
    ["genesis_fork_version", onlyGenesisVersion(chainSpec)],
  ];
  for (const [name, value] of expected) {
    const reported = memberOf(genesis, name);
    if (value === undefined || isEqualTo(value, reported)) continue;
    return `data.${name} is ${shown(reported)}, but the network has ${value}`;
  }
  return undefined;
}

/**
 * Accepts entries for other epochs: unscheduled forks, forks that the gateway does not know, and blob schedules.
 * Compares only the epochs of forks: Teku merges forks of the same epoch, and clients disagree about the previous
 * version of such forks.
 */
function findScheduleViolation(schedule: unknown, chainSpec: ChainSpec): string | undefined {
  if (!Array.isArray(schedule)) return "data is not an array";
  const epochs = schedule.map((fork) => decimalOf(memberOf(fork, "epoch")));
  const missing = chainSpec.forks.find(({ epoch, isUpcoming }) => !isUpcoming && !epochs.includes(epoch));
  if (missing) return `data has no fork at epoch ${missing.epoch}, but the network has ${missing.name} there`;
  const version = onlyGenesisVersion(chainSpec);
  if (version === undefined) return undefined;
  const versions = schedule.map((fork) => memberOf(fork, "current_version"));
  const wrong = versions.findIndex(
    (reported, index) => (index === 0 || epochs[index] === 0) && !isEqualTo(version, reported),
  );
  if (wrong < 0) return undefined;
  return `data[${wrong}].current_version is ${shown(versions[wrong])}, but the network has ${version}`;
}

/**
 * Returns the version of the chain at genesis. Undefined if it is unknown, or if several forks start at genesis:
 * clients disagree whether it is the version of the first or of the last fork.
 */
function onlyGenesisVersion({ genesisForkVersion, forks }: ChainSpec): string | undefined {
  return forks.some(({ name, epoch }) => name !== "phase0" && epoch === 0) ? undefined : genesisForkVersion;
}

function isEqualTo(value: string | number, reported: unknown): boolean {
  if (typeof value === "number") return decimalOf(reported) === value;
  return typeof reported === "string" && reported.toLowerCase() === value;
}

/** Shows a value without conversion: an upstream may send an object whose `toString` is not a function. */
function shown(reported: unknown): string {
  const text = typeof reported === "string" && reported !== "" ? reported : (JSON.stringify(reported) ?? "missing");
  return text.slice(0, MAX_SHOWN_LENGTH);
}

const MAX_SHOWN_LENGTH = 80;

/**
 * Returns the expected `SECONDS_PER_SLOT`, or undefined for any. Clients that read `SLOT_DURATION_MS` may leave it at
 * the default of the preset, and cannot express fractions.
 */
function secondsOf(spec: unknown, { presetBase, secondsPerSlot }: ChainSpec): number | undefined {
  if (memberOf(spec, "SLOT_DURATION_MS") === undefined) return secondsPerSlot;
  const isDefault = decimalOf(memberOf(spec, "SECONDS_PER_SLOT")) === PRESETS[presetBase].secondsPerSlot;
  return isDefault || !Number.isInteger(secondsPerSlot) ? undefined : secondsPerSlot;
}
