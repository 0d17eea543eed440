import { memberOf } from "../upstream/client/json-fields.ts";

export type PresetBase = "mainnet" | "minimal" | "gnosis";

export interface ScheduledFork {
  /** Lowercase. */
  readonly name: string;
  readonly epoch: number;
  /** True if the fork was ahead when the upstreams reported its epoch, which may still change. */
  readonly isUpcoming?: boolean;
}

/** Constants of a network. */
export interface SpecConstants {
  readonly presetBase: PresetBase;
  readonly secondsPerSlot: number;
  readonly slotsPerEpoch: number;
  /** Lowercase hex. Undefined if unknown. */
  readonly genesisForkVersion?: string | undefined;
  /** Scheduled forks in activation order. Starts with phase0. */
  readonly forks: readonly ScheduledFork[];
}

/** Defaults for upstreams whose `/eth/v1/config/spec` omits these values. */
export const PRESETS: Readonly<Record<PresetBase, Pick<SpecConstants, "secondsPerSlot" | "slotsPerEpoch">>> = {
  mainnet: { secondsPerSlot: 12, slotsPerEpoch: 32 },
  minimal: { secondsPerSlot: 6, slotsPerEpoch: 8 },
  gnosis: { secondsPerSlot: 5, slotsPerEpoch: 16 },
};

const LATER_FORKS = ["altair", "bellatrix", "capella", "deneb", "electra", "fulu", "gloas"];
/** Forks whose objects the method definitions describe, in the order of the specification. */
export const KNOWN_FORKS: ReadonlySet<string> = new Set(["phase0", ...LATER_FORKS]);

/** Parses the data of `/eth/v1/config/spec`. Throws without a known preset. */
export function parseConstants(spec: unknown): SpecConstants {
  const constants = statedConstants(spec);
  const defaults = PRESETS[constants.presetBase];
  return {
    ...constants,
    secondsPerSlot: constants.secondsPerSlot ?? defaults.secondsPerSlot,
    slotsPerEpoch: constants.slotsPerEpoch ?? defaults.slotsPerEpoch,
  };
}

/** Constants of a network directory. */
export type PinnedConstants = Omit<SpecConstants, "secondsPerSlot"> & { readonly secondsPerSlot?: number | undefined };

const NUMBERS = ["SECONDS_PER_SLOT", "SLOT_DURATION_MS"];

/** Parses the content of `config.yaml`, whose values are text. Throws if a value is invalid. */
export function parseNetworkConfig(config: unknown): PinnedConstants {
  for (const name of NUMBERS) requireNumber(config, name, "a positive number", (number) => number > 0);
  for (const name of LATER_FORKS.map(forkEpochName)) requireNumber(config, name, "a whole number", Number.isInteger);
  const constants = statedConstants(config);
  return { ...constants, slotsPerEpoch: PRESETS[constants.presetBase].slotsPerEpoch };
}

/** Throws if a member is present but not a decimal number, or fails the test. */
function requireNumber(config: unknown, name: string, kind: string, test: (number: number) => boolean): void {
  const value = memberOf(config, name);
  if (value === undefined) return;
  const number = decimalOf(value);
  if (number === undefined || !test(number)) throw new Error(`${name} must be ${kind}, got ${JSON.stringify(value)}.`);
}

function statedConstants(spec: unknown) {
  const slotMillis = positive(spec, "SLOT_DURATION_MS");
  return {
    presetBase: presetBaseOf(spec),
    secondsPerSlot: slotMillis === undefined ? positive(spec, "SECONDS_PER_SLOT") : slotMillis / 1000,
    slotsPerEpoch: positive(spec, "SLOTS_PER_EPOCH"),
    genesisForkVersion: forkVersion(memberOf(spec, "GENESIS_FORK_VERSION")),
    forks: forksOf(spec),
  };
}

export const forkEpochName = (fork: string): string => `${fork.toUpperCase()}_FORK_EPOCH`;

/** Skips forks at FAR_FUTURE_EPOCH, which is not a safe integer, and forks whose epoch is not a decimal integer. */
function forksOf(spec: unknown): ScheduledFork[] {
  const later = LATER_FORKS.flatMap((name) => {
    const epoch = decimalOf(memberOf(spec, forkEpochName(name)));
    return epoch !== undefined && Number.isSafeInteger(epoch) ? [{ name, epoch }] : [];
  });
  return [{ name: "phase0", epoch: 0 }, ...later];
}

function presetBaseOf(spec: unknown): PresetBase {
  const value = memberOf(spec, "PRESET_BASE");
  const slotsPerEpoch = positive(spec, "SLOTS_PER_EPOCH");
  for (const base of Object.keys(PRESETS) as PresetBase[]) {
    if (value === undefined ? PRESETS[base].slotsPerEpoch === slotsPerEpoch : value === base) return base;
  }
  if (value === undefined) throw new Error("It has no PRESET_BASE.");
  throw new Error(`It has the unknown PRESET_BASE ${JSON.stringify(value)}. It must be mainnet, minimal or gnosis.`);
}

function positive(value: unknown, name: string): number | undefined {
  const number = decimalOf(memberOf(value, name));
  return number !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** Returns a non-negative number or decimal string as a number, otherwise undefined. Unlike `Number`, rejects "". */
export function decimalOf(value: unknown): number | undefined {
  const isDecimal = typeof value === "number" ? value >= 0 : typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value);
  return isDecimal ? Number(value) : undefined;
}

function forkVersion(value: unknown): string | undefined {
  return typeof value === "string" && /^0x[0-9a-f]{8}$/i.test(value) ? value.toLowerCase() : undefined;
}
