import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { type AskOptions, askForData } from "./upstream/ask.ts";
import { integerOf, memberOf, rootOf } from "./upstream/read-json.ts";
import type { UpstreamClient } from "./upstream/upstream-client.ts";

/** Of the chain that the upstreams follow, what the gateway goes by; a plain value, which can be sent to another process. */
export interface ChainFacts {
  readonly presetBase: "mainnet" | "minimal" | "gnosis";
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly slotsPerEpoch: number;
  /** Every fork that is scheduled, by its name in lower case and its epoch, in their order; phase0 is the first. */
  readonly forks: readonly { readonly name: string; readonly epoch: number }[];
}

/** The slot that it is, by the clock of this machine. */
export function slotAt({ genesisTime, secondsPerSlot }: ChainFacts, unixMillis: number): number {
  return Math.max(0, Math.floor((unixMillis / 1000 - genesisTime) / secondsPerSlot));
}

export function forkAt({ forks, slotsPerEpoch }: ChainFacts, slot: number): string {
  const epoch = Math.floor(slot / slotsPerEpoch);
  return forks.findLast((fork) => fork.epoch <= epoch)?.name ?? "phase0";
}

type PresetBase = ChainFacts["presetBase"];

/** What is taken where an upstream leaves it out. */
const PRESETS: Readonly<Record<PresetBase, Pick<ChainFacts, "secondsPerSlot" | "slotsPerEpoch">>> = {
  mainnet: { secondsPerSlot: 12, slotsPerEpoch: 32 },
  minimal: { secondsPerSlot: 6, slotsPerEpoch: 8 },
  gnosis: { secondsPerSlot: 5, slotsPerEpoch: 16 },
};

const TIMEOUT_MILLIS = 5000;
const FIRST_PAUSE_MILLIS = 500;
const MAX_PAUSE_MILLIS = 15_000;

/**
 * What most of those tell who answer, the first of them where as many tell something else; goes on asking all until one answers. Rejects when
 * the signal is aborted.
 */
export async function readChainFacts(
  clients: readonly UpstreamClient[],
  signal: AbortSignal,
  logger: Logger,
  timers: Timers = SYSTEM_TIMERS,
): Promise<ChainFacts> {
  for (let pause = FIRST_PAUSE_MILLIS; ; pause = Math.min(2 * pause, MAX_PAUSE_MILLIS)) {
    const read = clients.map((client) => readFrom(client, { timers, signal, timeoutMillis: TIMEOUT_MILLIS }));
    const answers = await Promise.allSettled(read);
    signal.throwIfAborted();
    const facts = mostFollowed(answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : [])));
    if (facts !== undefined) return facts;
    const reasons = answers.flatMap((answer) => (answer.status === "rejected" ? [messageOf(answer.reason)] : []));
    logger.warn("No upstream tells which chain it follows: all are asked again", { reasons });
    await timers.sleep(pause, signal);
  }
}

/** Those of the chain that most follow; undefined when there is none. */
function mostFollowed(told: readonly ChainFacts[]): ChainFacts | undefined {
  const followers = (facts: ChainFacts) =>
    told.filter(
      ({ genesisValidatorsRoot, genesisTime }) =>
        genesisValidatorsRoot === facts.genesisValidatorsRoot && genesisTime === facts.genesisTime,
    ).length;
  const most = Math.max(...told.map(followers));
  return told.find((facts) => followers(facts) === most);
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

async function readFrom(client: UpstreamClient, options: AskOptions): Promise<ChainFacts> {
  const [spec, genesis] = await Promise.all([
    askForData(client, "/eth/v1/config/spec", options),
    askForData(client, "/eth/v1/beacon/genesis", options),
  ]);
  return factsOf(spec, genesis);
}

/** Of what an upstream tells; throws when that does not suffice. */
export function factsOf(spec: unknown, genesis: unknown): ChainFacts {
  const presetBase = presetBaseOf(spec);
  const { secondsPerSlot, slotsPerEpoch } = PRESETS[presetBase];
  const slotMillis = positive(spec, "SLOT_DURATION_MS");
  return {
    presetBase,
    genesisValidatorsRoot: rootOf(genesis, "genesis_validators_root"),
    genesisTime: integerOf(genesis, "genesis_time"),
    secondsPerSlot:
      slotMillis === undefined ? (positive(spec, "SECONDS_PER_SLOT") ?? secondsPerSlot) : slotMillis / 1000,
    slotsPerEpoch: positive(spec, "SLOTS_PER_EPOCH") ?? slotsPerEpoch,
    forks: forksOf(spec),
  };
}

const LATER_FORKS = ["altair", "bellatrix", "capella", "deneb", "electra", "fulu", "gloas"];

/** Those of the far future are not scheduled. */
function forksOf(spec: unknown): ChainFacts["forks"] {
  const later = LATER_FORKS.flatMap((name) => {
    const said = memberOf(spec, `${name.toUpperCase()}_FORK_EPOCH`);
    const epoch = said === undefined ? Number.NaN : Number(said);
    return Number.isSafeInteger(epoch) ? [{ name, epoch }] : [];
  });
  return [{ name: "phase0", epoch: 0 }, ...later];
}

function presetBaseOf(spec: unknown): PresetBase {
  const said = memberOf(spec, "PRESET_BASE");
  const slotsPerEpoch = positive(spec, "SLOTS_PER_EPOCH");
  for (const base of Object.keys(PRESETS) as PresetBase[]) {
    if (said === undefined ? PRESETS[base].slotsPerEpoch === slotsPerEpoch : said === base) return base;
  }
  throw new Error(
    `The preset is ${JSON.stringify(said)}, which is not known: it has to be mainnet, minimal or gnosis.`,
  );
}

/** A number, whether written as one or as a text. */
function positive(value: unknown, name: string): number | undefined {
  const number = Number(memberOf(value, name));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
