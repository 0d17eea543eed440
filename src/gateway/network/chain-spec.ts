import { Backoff } from "../../async/backoff.ts";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { GatewaySettings } from "../settings.ts";
import { type FetchOptions, fetchData } from "../upstream/client/fetch.ts";
import { integerOf, rootOf } from "../upstream/client/json-fields.ts";
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
import { PRESETS, type PresetBase, parseConstants, type ScheduledFork, type SpecConstants } from "./spec-constants.ts";

/** Parameters of the chain that the upstreams follow. Structured-cloneable. */
export interface ChainSpec extends SpecConstants {
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. */
  readonly genesisTime: number;
  /** Epoch of the clock when the upstreams reported the forks. No other fork starts before it. */
  readonly reportedAtEpoch?: number;
}

/** Returns the slot at a Unix time in milliseconds. Before genesis it is 0. */
export function slotAt({ genesisTime, secondsPerSlot }: ChainSpec, unixMillis: number): number {
  return Math.max(0, Math.floor((unixMillis / 1000 - genesisTime) / secondsPerSlot));
}

export function forkAt({ forks, slotsPerEpoch }: ChainSpec, slot: number): string {
  const epoch = Math.floor(slot / slotsPerEpoch);
  return forks.findLast((fork) => fork.epoch <= epoch)?.name ?? "phase0";
}

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
 * Fetches the chain spec of the pinned network, or of the network that most clients report, with the constants that
 * most of its clients report. Throws in a tie. Retries with exponential backoff until an upstream answers. Rejects when
 * the signal is aborted.
 */
export async function fetchChainSpecFrom(
  clients: readonly UpstreamClient[],
  { network, signal, logger, timers = SYSTEM_TIMERS }: FetchChainSpecOptions,
): Promise<ChainSpec> {
  const backoff = new Backoff({ firstMillis: FIRST_BACKOFF_MILLIS, maxMillis: MAX_BACKOFF_MILLIS });
  for (;;) {
    const read = clients.map(async (client) => ({
      upstream: client.name,
      genesis: await readFrom(client, { timers, signal, timeoutMillis: TIMEOUT_MILLIS }),
    }));
    const answers = await Promise.allSettled(read);
    signal.throwIfAborted();
    const reports = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const genesis = network ?? majorityGenesis(reports);
    const onNetwork = genesis ? reports.filter((report) => isOnNetwork(report.genesis, genesis)) : [];
    if (onNetwork.length > 0) {
      const known = network?.constants ?? builtInConstants(onNetwork[0]!.genesis);
      return markUpcomingForks(majoritySpec(onNetwork, known, logger), known?.forks, timers.unixNow());
    }
    const reasons = answers.map((answer) =>
      answer.status === "rejected"
        ? messageOf(answer.reason)
        : `${answer.value.upstream} is on ${describeNetwork(answer.value.genesis)}.`,
    );
    if (network && reports.length > 0) {
      logger.warn("No upstream is on the pinned network, retrying", { network: network.name, reasons });
    } else {
      logger.warn("No upstream reports its chain, retrying", { reasons });
    }
    await timers.sleep(backoff.next(), signal);
  }
}

/** Constants of a built-in network. */
function builtInConstants(genesis: Genesis): Partial<SpecConstants> | undefined {
  const known = knownNetwork(genesis);
  if (known === undefined) return undefined;
  const presetBase: PresetBase = known === "gnosis" || known === "chiado" ? "gnosis" : "mainnet";
  return { presetBase, ...PRESETS[presetBase] };
}

/** Marks the forks that are ahead and not pinned. */
function markUpcomingForks(spec: ChainSpec, pinned: ChainSpec["forks"] = [], unixMillis: number): ChainSpec {
  const epoch = Math.floor(slotAt(spec, unixMillis) / spec.slotsPerEpoch);
  const forks = spec.forks.map((fork): ScheduledFork => {
    const isUpcoming = fork.epoch > epoch && pinned.every(({ name }) => name !== fork.name);
    return isUpcoming ? { ...fork, isUpcoming } : fork;
  });
  return { ...spec, forks, reportedAtEpoch: epoch };
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
