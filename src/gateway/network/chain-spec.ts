import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { GatewaySettings } from "../settings.ts";
import { type FetchOptions, fetchData } from "../upstream/client/fetch.ts";
import { integerOf, memberOf, rootOf } from "../upstream/client/json-fields.ts";
import { UpstreamClient } from "../upstream/client/upstream-client.ts";
import { majoritySpec } from "./majority-spec.ts";
import {
  describeNetwork,
  type Genesis,
  isOnNetwork,
  knownNetwork,
  majorityGenesis,
  type NetworkPin,
} from "./network-pin.ts";

/** Parameters of the chain that the upstreams follow. Structured-cloneable. */
export interface ChainSpec {
  readonly presetBase: "mainnet" | "minimal" | "gnosis";
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly slotsPerEpoch: number;
  /** Scheduled forks in activation order, by lowercase name. Starts with phase0. */
  readonly forks: readonly { readonly name: string; readonly epoch: number }[];
}

/** Returns the slot at a Unix time in milliseconds. Before genesis it is 0. */
export function slotAt({ genesisTime, secondsPerSlot }: ChainSpec, unixMillis: number): number {
  return Math.max(0, Math.floor((unixMillis / 1000 - genesisTime) / secondsPerSlot));
}

export function forkAt({ forks, slotsPerEpoch }: ChainSpec, slot: number): string {
  const epoch = Math.floor(slot / slotsPerEpoch);
  return forks.findLast((fork) => fork.epoch <= epoch)?.name ?? "phase0";
}

type PresetBase = ChainSpec["presetBase"];

/** Defaults for upstreams whose `/eth/v1/config/spec` omits these values. */
const PRESETS: Readonly<Record<PresetBase, Pick<ChainSpec, "secondsPerSlot" | "slotsPerEpoch">>> = {
  mainnet: { secondsPerSlot: 12, slotsPerEpoch: 32 },
  minimal: { secondsPerSlot: 6, slotsPerEpoch: 8 },
  gnosis: { secondsPerSlot: 5, slotsPerEpoch: 16 },
};

const SPEC_PATH = "/eth/v1/config/spec";
const GENESIS_PATH = "/eth/v1/beacon/genesis";
const TIMEOUT_MILLIS = 5000;
const FIRST_BACKOFF_MILLIS = 500;
const MAX_BACKOFF_MILLIS = 15_000;

/** Fetches the chain spec from the upstreams. Loads no module that depends on the preset, which the spec names. */
export async function fetchChainSpec(
  { upstreams, network }: Pick<GatewaySettings, "upstreams" | "network">,
  signal: AbortSignal,
  logger: Logger,
): Promise<ChainSpec> {
  const clients = upstreams.map((upstream) => new UpstreamClient(upstream, { timers: SYSTEM_TIMERS }));
  try {
    return await fetchChainSpecFrom(clients, { network, signal, logger });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

interface FetchChainSpecOptions {
  /** Undefined selects the network of most upstreams. */
  network?: NetworkPin | undefined;
  signal: AbortSignal;
  logger: Logger;
  timers?: Timers;
}

/**
 * Fetches the chain spec from all clients and returns that of the pinned network, or of the network that most of them
 * report, with the constants that most of these report. Throws in a tie. Retries with exponential backoff until an upstream answers. Rejects when the signal is
 * aborted.
 */
export async function fetchChainSpecFrom(
  clients: readonly UpstreamClient[],
  { network, signal, logger, timers = SYSTEM_TIMERS }: FetchChainSpecOptions,
): Promise<ChainSpec> {
  for (let backoff = FIRST_BACKOFF_MILLIS; ; backoff = Math.min(2 * backoff, MAX_BACKOFF_MILLIS)) {
    const read = clients.map(async (client) => ({
      upstream: client.name,
      genesis: await readFrom(client, { timers, signal, timeoutMillis: TIMEOUT_MILLIS }),
    }));
    const answers = await Promise.allSettled(read);
    signal.throwIfAborted();
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const genesis = network ?? majorityGenesis(found);
    const onNetwork = genesis ? found.filter((one) => isOnNetwork(one.genesis, genesis)) : [];
    if (onNetwork.length > 0) return majoritySpec(onNetwork, knownConstants(onNetwork[0]!.genesis), logger);
    const reasons = answers.map((answer) =>
      answer.status === "rejected"
        ? messageOf(answer.reason)
        : `${answer.value.upstream} is on ${describeNetwork(answer.value.genesis)}.`,
    );
    if (network && found.length > 0) {
      logger.warn("No upstream is on the pinned network, retrying", { network: network.name, reasons });
    } else {
      logger.warn("No upstream reports its chain, retrying", { reasons });
    }
    await timers.sleep(backoff, signal);
  }
}

/** Constants of a built-in network. */
function knownConstants(genesis: Genesis) {
  const known = knownNetwork(genesis);
  if (known === undefined) return undefined;
  const presetBase: PresetBase = known === "gnosis" || known === "chiado" ? "gnosis" : "mainnet";
  return { presetBase, ...PRESETS[presetBase] };
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

async function readFrom(client: UpstreamClient, options: FetchOptions): Promise<ChainSpec> {
  const [spec, genesis] = await Promise.all([
    fetchData(client, SPEC_PATH, options),
    fetchData(client, GENESIS_PATH, options),
  ]);
  const parse = <T>(path: string, parsed: () => T): T => {
    try {
      return parsed();
    } catch (error) {
      throw new Error(`${client.name}: ${path} ${messageOf(error).replace(/^It /, "").replace(/^"/, 'is invalid: "')}`);
    }
  };
  return { ...parse(SPEC_PATH, () => parseConstants(spec)), ...parse(GENESIS_PATH, () => parseGenesis(genesis)) };
}

/** Parses the data of `/eth/v1/config/spec` and `/eth/v1/beacon/genesis`. Throws if a required value is missing. */
export function parseChainSpec(spec: unknown, genesis: unknown): ChainSpec {
  return { ...parseConstants(spec), ...parseGenesis(genesis) };
}

function parseGenesis(genesis: unknown): Genesis {
  return {
    genesisValidatorsRoot: rootOf(genesis, "genesis_validators_root"),
    genesisTime: integerOf(genesis, "genesis_time"),
  };
}

function parseConstants(spec: unknown): Omit<ChainSpec, keyof Genesis> {
  const presetBase = presetBaseOf(spec);
  const { secondsPerSlot, slotsPerEpoch } = PRESETS[presetBase];
  const slotMillis = positive(spec, "SLOT_DURATION_MS");
  return {
    presetBase,
    secondsPerSlot:
      slotMillis === undefined ? (positive(spec, "SECONDS_PER_SLOT") ?? secondsPerSlot) : slotMillis / 1000,
    slotsPerEpoch: positive(spec, "SLOTS_PER_EPOCH") ?? slotsPerEpoch,
    forks: forksOf(spec),
  };
}

const LATER_FORKS = ["altair", "bellatrix", "capella", "deneb", "electra", "fulu", "gloas"];
/** Forks whose objects the method definitions describe. */
export const KNOWN_FORKS: ReadonlySet<string> = new Set(["phase0", ...LATER_FORKS]);

/** Skips forks at FAR_FUTURE_EPOCH, which is no safe integer. */
function forksOf(spec: unknown): ChainSpec["forks"] {
  const later = LATER_FORKS.flatMap((name) => {
    const value = memberOf(spec, `${name.toUpperCase()}_FORK_EPOCH`);
    const epoch = value === undefined ? Number.NaN : Number(value);
    return Number.isSafeInteger(epoch) ? [{ name, epoch }] : [];
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

/** Accepts a number or a decimal string. */
function positive(value: unknown, name: string): number | undefined {
  const number = Number(memberOf(value, name));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
