import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { ACTIVE_PRESET, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { phase0, Slot, ValidatorIndex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { initialiseDatabase } from "../chain/anchor.ts";
import { SlotTime } from "../chain/clock/clock.ts";
import type { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { TimeOfDay } from "../chain/clock/time-of-day.ts";
import { VirtualClock } from "../chain/clock/virtual-clock.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import {
  asStoredConfig,
  type DevDeposits,
  devChainConfig,
  type RequestedDeposits,
  storedChainConfig,
} from "../dev/chain-config.ts";
import type { BlobCounts } from "../dev/dev-blobs.ts";
import { MOST_EMPTY_EPOCHS } from "../dev/empty-epochs.ts";
import { createDevGenesis } from "../dev/genesis.ts";
import { genesisDeposits, genesisDepositsInSlices } from "../dev/genesis-deposits.ts";
import {
  type DevIdentity,
  type DevParameters,
  OtherChainError,
  requireDevChain,
  requireSameChain,
} from "../dev/identity.ts";
import { openKeys } from "../dev/open-keys.ts";
import type { DevKeys } from "../dev/validator-keys.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { ExecutionGenesis, GenesisBlock } from "../execution/engine-api/genesis-block.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import type { NetworkingOptions } from "../network/networking-options.ts";
import type { ChainSource } from "./beacon-node.ts";
import { warnOfJumps, watchSuspensions } from "./clock-jump.ts";
import { pubkeyFilePath } from "./data-directory.ts";
import { connectExecutionClients, type ExecutionClientOptions, readClientGenesis } from "./execution-client.ts";
import { readConfigFile } from "./network-config.ts";
import { StartError } from "./start-error.ts";

export interface DevSourceOptions extends Omit<DevParameters, "preset"> {
  dataDir: string;
  /** Where the chain is described for nodes that want to join it; left out when nobody is to. */
  networkDirectory?: string;
  /** Whether the dev chain that is there is forgotten. */
  reset?: boolean;
  /** Seconds of chain time in one second of real time; 0 for a chain that goes on only when it is told to. */
  speed: number;
  /** How many blobs the built-in execution engine gives each payload; none by default. */
  devBlobs?: BlobCounts;
  /** How much history is made at once when the chain is new. */
  warmupEpochs: number;
  /** Whether slots that passed while the chain was stopped stay empty, so that its time is the real time; `speed` must be 1. */
  catchUp?: boolean;
  /** By default such that the warm-up history of a new chain ends now. */
  genesisTime?: number;
  /** The validators that do their duties by themselves; by default all. */
  activeValidators?: readonly ValidatorIndex[];
  /** By default the chain keeps to itself. With other nodes its time is the real time, so `speed` must be 1. */
  networking?: NetworkingOptions;
  /** By default the built-in dev execution engine makes the payloads. Clients go by the time of day, so `speed` must be 1. */
  execution?: ExecutionClientOptions;
  logger: Logger;
  /** Ends the creation of a chain, and what execution clients are asked. */
  signal?: AbortSignal;
}

export interface DevSource extends ChainSource {
  readonly clock: VirtualClock;
  readonly suspensions: SuspensionWatch;
  /** Of all validators that the chain began with. */
  readonly keys: DevKeys;
  /** The deposits of these validators; undefined where deposits are made at a contract. */
  readonly genesisDeposits: (() => phase0.DepositData[]) | undefined;
  /** Whether the chain was made just now. */
  readonly isNew: boolean;
  /** Whether validators of other nodes may have a part in it. */
  readonly isShared: boolean;
}

/** The dev chain of the database where it stopped, or a new one. Its time is virtual. */
export async function openDevSource(db: BeaconDb, options: DevSourceOptions, timeOfDay: TimeOfDay): Promise<DevSource> {
  const { slotSeconds, speed, logger } = options;
  const stored = await storedIdentity(db, options);
  const isNew = stored === null;
  const identity = stored ?? (await createChain(db, options, timeOfDay));
  const { genesisTime } = identity;
  const isShared = options.networking !== undefined && options.activeValidators !== undefined;
  const stoppedAt = await slotWhereStopped(db);
  const presentSlot = new SlotTime(genesisTime, slotSeconds).slotAt(timeOfDay.nowSeconds());
  const catchesUp = options.catchUp === true && !isNew;
  if (catchesUp) requireFewEmptySlots(presentSlot - stoppedAt);
  const isJoined = await db.meta.isJoined();
  const config = createBeaconConfig(storedChainConfig(identity), fromHex(identity.genesisValidatorsRoot));
  const engine = await openEngine(config, options);
  const suspensions = watchSuspensions(logger);
  const clock = new VirtualClock({
    genesisTime,
    secondsPerSlot: slotSeconds,
    // Validators of other nodes went on while this one was stopped: their chain is taken over, not made up for.
    startSlot: catchesUp || (isShared && !isNew) ? Math.max(stoppedAt, presentSlot) : stoppedAt,
    // How fast time flows once somebody lets it.
    speed: speed || 1,
    timeOfDay,
    onListenerError: (error, slot) => logger.error("The work of a slot failed", { slot, error }),
    onJump: warnOfJumps(logger),
    suspensions,
  });
  const keys = openKeys(identity.keys, identity.validators);
  const hasContract = identity.deposits !== undefined || identity.execution !== undefined;
  return {
    config,
    clock,
    stopClock: () => clock.stop(),
    suspensions,
    engine,
    // Nobody but this node's validators can go on with the chain, however long they were away.
    syncHorizonSlots: options.networking ? undefined : Number.POSITIVE_INFINITY,
    authority: isShared ? (isJoined ? "member" : "founder") : "sole",
    keys,
    genesisDeposits: hasContract ? undefined : () => genesisDeposits(config, keys, identity),
    isNew,
    isShared,
  };
}

async function openEngine(
  config: BeaconConfig,
  { execution, logger, signal }: DevSourceOptions,
): Promise<ExecutionEngine> {
  if (!execution) return new DevExecutionEngine();
  const engine = await connectExecutionClients(execution, config, logger, signal);
  const { chainMismatch } = engine;
  if (chainMismatch === undefined) return engine;
  engine.close();
  throw new StartError("otherExecutionChain", chainMismatch);
}

/** Null for a chain that is to be made. */
async function storedIdentity(db: BeaconDb, options: DevSourceOptions): Promise<DevIdentity | null> {
  const stored = await db.meta.getIdentity();
  try {
    if (options.reset) {
      // The chain of a network is not ours to delete: it may have taken days to sync.
      if (stored !== null) requireDevChain(stored);
      return null;
    }
    if (stored === null) return null;
    const identity = requireSameChain(stored, { ...options, preset: ACTIVE_PRESET });
    return identity.config ? identity : await withConfig(db, identity, options.networkDirectory);
  } catch (error) {
    if (!(error instanceof OtherChainError)) throw error;
    const kind = error.isDevChain ? "otherDevChain" : "otherChain";
    throw new StartError(kind, `The data directory ${options.dataDir} holds ${error.held}.`, error);
  }
}

/** What the configuration of a dev chain has by its other parameters, and by which it is known that a description is of that chain. */
const FROM_PARAMETERS = /^(?:CONFIG_NAME|MIN_GENESIS_TIME|SECONDS_PER_SLOT|[A-Z0-9]+_FORK_EPOCH)$/;

/** Stores the configuration with a chain of an earlier version, which is the one that the chain was described with for others. */
async function withConfig(db: BeaconDb, made: DevIdentity, directory: string | undefined): Promise<DevIdentity> {
  const present = devChainConfig(made);
  const isDescribed = directory !== undefined && existsSync(join(directory, "config.yaml"));
  const described = isDescribed ? readConfigFile(directory, (named) => named) : {};
  const isOfChain = Object.entries(described).every(
    ([name, value]) => !FROM_PARAMETERS.test(name) || value === present[name as keyof typeof present],
  );
  const identity = { ...made, config: asStoredConfig({ ...present, ...(isOfChain && described) }) };
  const batch = db.batch();
  batch.meta.putIdentity(identity);
  await batch.write();
  return identity;
}

async function createChain(db: BeaconDb, options: DevSourceOptions, timeOfDay: TimeOfDay): Promise<DevIdentity> {
  const { validators, forks, slotSeconds, warmupEpochs, logger, reset } = options;
  const { keys, withdrawals, balances, configOverrides } = options;
  const client = options.execution && (await readClientGenesis(options.execution, logger, options.signal));
  const warmupSeconds = warmupEpochs * SLOTS_PER_EPOCH * slotSeconds;
  const latest = Math.floor(timeOfDay.nowSeconds()) - warmupSeconds;
  const { genesisTime = latest } = options;
  requireTimeForHistory(genesisTime, latest);
  if (client) {
    requireTimeAfter(client.block, genesisTime);
    requireNoBlocks(client);
  }
  const deposits = options.deposits && depositsOn(client, options.deposits);
  const execution = client && { chainId: client.chainId, genesisBlockHash: toRootHex(client.block.blockHash) };
  const chainConfig = devChainConfig({ forks, slotSeconds, genesisTime, execution, deposits, configOverrides });
  const progress = new Progress({ message: "Signing the deposits of the genesis", logger });
  const signedDeposits = await genesisDepositsInSlices(chainConfig, openKeys(keys, validators), options, (done) => {
    options.signal?.throwIfAborted();
    progress.report(done, validators);
  });
  progress.finish();
  const { state, config } = createDevGenesis({
    chainConfig,
    validatorCount: validators,
    genesisTime,
    executionGenesis: client?.block,
    depositsElsewhere: deposits !== undefined,
    signedDeposits,
    keys,
    withdrawals,
    balances,
  });
  const identity: DevIdentity = {
    kind: "dev",
    preset: ACTIVE_PRESET,
    validators,
    forks,
    slotSeconds,
    deposits,
    keys,
    withdrawals,
    balances,
    configOverrides,
    warmupEpochs,
    genesisTime,
    genesisValidatorsRoot: toRootHex(state.genesisValidatorsRoot),
    ...(execution && { execution }),
    config: asStoredConfig(chainConfig),
  };
  options.signal?.throwIfAborted();
  // Only now, so that the chain of before is still there when a new one cannot be made.
  if (reset) await rm(pubkeyFilePath(options.dataDir), { force: true });
  await initialiseDatabase(db, config, { state }, identity);
  return identity;
}

function requireTimeForHistory(genesisTime: number, latest: number): void {
  if (genesisTime <= latest) return;
  throw new StartError(
    "genesisTooLate",
    `The chain cannot begin at ${timeText(genesisTime)}: it has to begin in the past, with its warm-up history by ${timeText(latest)}.`,
  );
}

/** Each execution block has to be later than the one before it. */
function requireTimeAfter({ timestamp }: GenesisBlock, genesisTime: number): void {
  if (timestamp <= genesisTime) return;
  throw new StartError(
    "executionGenesisTooLate",
    `The chain would begin at ${timeText(genesisTime)}, before the genesis block of its execution client, which is of ${timeText(timestamp)}.`,
  );
}

/** A client that has a chain already takes the genesis block for a head of the past, on which it builds nothing. */
function requireNoBlocks({ origin, latestNumber }: ExecutionGenesis): void {
  if (latestNumber === 0) return;
  throw new StartError(
    "executionClientHasBlocks",
    `The execution client ${origin} has blocks of another chain already, up to number ${latestNumber}.`,
  );
}

/** Deposits come with the payloads of the execution client, so the contract is on the client's chain. */
function depositsOn(client: ExecutionGenesis | undefined, requested: RequestedDeposits): DevDeposits {
  const { chainId = client?.chainId } = requested;
  if (chainId === undefined) throw new RangeError("A deposit contract without an execution client needs a chain id.");
  if (client && chainId !== client.chainId) {
    throw new StartError(
      "otherDepositChain",
      `The deposit contract is on chain ${chainId}, but the execution client ${client.origin} has chain id ${client.chainId}.`,
    );
  }
  return { ...requested, chainId };
}

const timeText = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();

function requireFewEmptySlots(slots: number): void {
  const most = MOST_EMPTY_EPOCHS * SLOTS_PER_EPOCH;
  if (slots <= most) return;
  throw new StartError(
    "tooFarBehind",
    `The chain is ${slots} slots behind the time of day, and at most ${most} can be left empty: in more of them all ` +
      "validators could lose their places.",
  );
}

/** After a crash the newest block may be ahead of the slot that was noted last. */
async function slotWhereStopped(db: BeaconDb): Promise<Slot> {
  const newest = await db.hotBlocks.last();
  return Math.max((await db.meta.getClockSlot()) ?? 0, newest?.slot ?? 0);
}
