import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type BeaconConfig, type ChainConfig, createBeaconConfig } from "@lodestar/config";
import { ACTIVE_PRESET, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { phase0, Slot } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { initialiseDatabase } from "../../chain/anchor/anchor.ts";
import { SlotTime } from "../../chain/clock/clock.ts";
import type { SuspensionWatch } from "../../chain/clock/suspension-watch.ts";
import type { TimeOfDay } from "../../chain/clock/time-of-day.ts";
import { VirtualClock } from "../../chain/clock/virtual-clock.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import {
  type DepositContract,
  type DepositContractOptions,
  devChainConfig,
  type ExecutionChain,
  serializeConfig,
  storedChainConfig,
} from "../../dev/chain-config.ts";
import { MAX_EMPTY_EPOCHS } from "../../dev/constants.ts";
import { createKeys } from "../../dev/create-keys.ts";
import { hasOverrides } from "../../dev/evm/evm-store.ts";
import { createEvmChain, openEvmChain } from "../../dev/evm/open-evm.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import {
  collectInSlices,
  genesisDepositMessages,
  genesisDeposits,
  signedGenesisDeposits,
} from "../../dev/genesis-deposits.ts";
import type { GenesisBuilders } from "../../dev/genesis-parameters.ts";
import { ChainMismatchError, type DevIdentity, requireDevChain, requireSameChain } from "../../dev/identity.ts";
import type { DevSettings } from "../../dev/settings.ts";
import type { DevKeys } from "../../dev/validator-keys.ts";
import type { EvmThread } from "../../evm/thread/evm-thread.ts";
import { DevExecutionEngine } from "../../execution/dev-engine.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import type { ExecutionGenesis, GenesisBlock } from "../../execution/engine-api/genesis-block.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import type { ChainSource } from "../beacon-node.ts";
import { warnOnClockJump, watchSuspensions } from "../clock-warnings.ts";
import { connectExecutionClients, readClientGenesis } from "../execution/execution-client.ts";
import type { NodeSettings } from "../settings.ts";
import { StartError } from "../start-error.ts";
import { pubkeyFilePath } from "../storage/data-directory.ts";
import { readConfigFile } from "./network-config.ts";

export interface DevSourceOptions extends DevSettings, Pick<NodeSettings, "dataDir" | "networking" | "execution"> {
  /** Directory for the network files that other nodes need. Omitted if no node can join. */
  networkDirectory?: string;
  logger: Logger;
  /** Cancels the creation of a chain and calls to execution clients. */
  signal?: AbortSignal;
}

export interface DevSource extends ChainSource {
  readonly clock: VirtualClock;
  readonly suspensions: SuspensionWatch;
  /** Omitted for a chain without an EVM. */
  readonly evm?: EvmThread;
  /** Keys of the genesis validators. */
  readonly keys: DevKeys;
  /** Builders since gloas, if the chain has any. */
  readonly builders: GenesisBuilders | undefined;
  /** Deposits of the genesis validators. Undefined if there is a deposit contract. */
  readonly genesisDeposits: (() => phase0.DepositData[]) | undefined;
  /** True for a newly created chain. */
  readonly isNew: boolean;
  /** True if other nodes may run validators of the chain. */
  readonly isShared: boolean;
}

/**
 * Opens the stored dev chain at the slot where it stopped, or creates a new one. The clock is virtual. A chain with an
 * EVM requires `evm`.
 */
export async function openDevSource(
  db: BeaconDb,
  options: DevSourceOptions,
  timeOfDay: TimeOfDay,
  evm?: EvmThread,
): Promise<DevSource> {
  const { slotSeconds, speed, logger } = options;
  const stored = await storedIdentity(db, options);
  const isNew = stored === null;
  const identity = stored ?? (await createChain(db, options, timeOfDay, evm));
  const { genesisTime } = identity;
  const isShared = options.networking !== undefined && options.activeValidators !== undefined;
  const stoppedAt = await lastSlot(db);
  const presentSlot = new SlotTime(genesisTime, slotSeconds).slotAt(timeOfDay.nowSeconds());
  const catchesUp = options.catchUp && !isNew;
  if (catchesUp) requireFewEmptySlots(presentSlot - stoppedAt);
  const isJoined = await db.meta.isJoined();
  const config = createBeaconConfig(storedChainConfig(identity), fromHex(identity.genesisValidatorsRoot));
  if (evm && stored) {
    await openStoredEvm(evm, config, options);
    if (options.networking) await requireNoOverrides(db, options);
  }
  const engine = evm ?? (await openEngine(config, options));
  const suspensions = watchSuspensions(logger);
  const clock = new VirtualClock({
    genesisTime,
    secondsPerSlot: slotSeconds,
    // Validators on other nodes may have continued the chain, so sync instead of filling missed slots.
    startSlot: catchesUp || (isShared && !isNew) ? Math.max(stoppedAt, presentSlot) : stoppedAt,
    // Speed after manual time ends.
    speed: speed || 1,
    timeOfDay,
    onListenerError: (error, slot) => logger.error("Slot processing failed", { slot, error }),
    onJump: warnOnClockJump(logger),
    suspensions,
  });
  const keys = createKeys(identity.keys, identity.validators);
  const hasContract = [identity.deposits, identity.execution, identity.evm].some((each) => each !== undefined);
  return {
    config,
    clock,
    stopClock: () => clock.stop(),
    suspensions,
    engine,
    ...(evm && { evm, close: () => evm.stop() }),
    // Without a network, only this node can extend the chain, even if the head is old.
    syncHorizonSlots: options.networking ? undefined : Number.POSITIVE_INFINITY,
    authority: isShared ? (isJoined ? "member" : "founder") : "sole",
    keys,
    builders: identity.builders,
    genesisDeposits: hasContract ? undefined : () => genesisDeposits(config, keys, identity),
    isNew,
    isShared,
  };
}

async function openStoredEvm(evm: EvmThread, config: BeaconConfig, { dataDir }: DevSourceOptions): Promise<void> {
  if (await openEvmChain(evm, config)) return;
  throw new StartError(
    "otherDevChain",
    `The data directory ${dataDir} holds a dev chain of another version, whose EVM starts from another block 0.`,
  );
}

/** Throws if the chain has overrides: other nodes on a network execute all blocks and cannot verify overrides. */
async function requireNoOverrides(db: BeaconDb, { dataDir }: DevSourceOptions): Promise<void> {
  if (!(await hasOverrides(db))) return;
  throw new StartError(
    "unverifiableState",
    `The data directory ${dataDir} holds a chain whose state was changed by calls such as anvil_setBalance or ` +
      "anvil_impersonateAccount: nodes that join it (--p2p) could not verify its blocks.",
  );
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

/** Returns null if a new chain must be created. */
async function storedIdentity(db: BeaconDb, options: DevSourceOptions): Promise<DevIdentity | null> {
  const stored = await db.meta.getIdentity();
  try {
    if (options.reset) {
      // Never deletes a chain of another kind, which may have taken days to sync.
      if (stored !== null) requireDevChain(stored);
      return null;
    }
    if (stored === null) return null;
    const identity = requireSameChain(stored, { ...options, preset: ACTIVE_PRESET });
    return identity.config ? identity : await addConfig(db, identity, options.networkDirectory);
  } catch (error) {
    if (!(error instanceof ChainMismatchError)) throw error;
    const kind = error.isDevChain ? "otherDevChain" : "otherChain";
    throw new StartError(kind, `The data directory ${options.dataDir} holds ${error.storedChain}.`, error);
  }
}

/** Constants derived from the parameters of a dev chain. A `config.yaml` with matching values describes that chain. */
const FROM_PARAMETERS = /^(?:CONFIG_NAME|MIN_GENESIS_TIME|SECONDS_PER_SLOT|[A-Z0-9]+_FORK_EPOCH)$/;

/**
 * Adds the configuration to the identity of a chain created by an earlier version. Reads the configuration from the
 * network directory if the directory describes the same chain.
 */
async function addConfig(db: BeaconDb, identity: DevIdentity, directory: string | undefined): Promise<DevIdentity> {
  const present = devChainConfig(identity);
  const isDescribed = directory !== undefined && existsSync(join(directory, "config.yaml"));
  const described = isDescribed ? readConfigFile(directory, (named) => named) : {};
  const isOfChain = Object.entries(described).every(
    ([name, value]) => !FROM_PARAMETERS.test(name) || value === present[name as keyof typeof present],
  );
  const updated = { ...identity, config: serializeConfig({ ...present, ...(isOfChain && described) }) };
  const batch = db.batch();
  batch.meta.putIdentity(updated);
  await batch.write();
  return updated;
}

async function createChain(
  db: BeaconDb,
  options: DevSourceOptions,
  timeOfDay: TimeOfDay,
  thread?: EvmThread,
): Promise<DevIdentity> {
  const { validators, forks, slotSeconds, warmupEpochs, logger, reset } = options;
  const { keys, withdrawals, balances, builders, configOverrides } = options;
  const client = options.execution && (await readClientGenesis(options.execution, logger, options.signal));
  const warmupSeconds = warmupEpochs * SLOTS_PER_EPOCH * slotSeconds;
  const latest = Math.floor(timeOfDay.nowSeconds()) - warmupSeconds;
  const { genesisTime = latest } = options;
  requireTimeForHistory(genesisTime, latest);
  if (client) {
    requireTimeAfter(client.block, genesisTime);
    requireNoBlocks(client);
  }
  const deposits = options.deposits && resolveDeposits(client, options.deposits);
  const execution = client && { chainId: client.chainId, genesisBlockHash: toRootHex(client.block.blockHash) };
  const parameters = { forks, slotSeconds, genesisTime, execution, deposits, configOverrides };
  const baseConfig = devChainConfig(parameters);
  const creatingEvm = options.evm && thread ? createEvm(thread, baseConfig, options.evm.chainId) : undefined;
  // Awaited after the deposits are created, while the EVM loads.
  creatingEvm?.catch(() => {});
  const validatorKeys = createKeys(keys, validators);
  const depositsElsewhere = deposits !== undefined || creatingEvm !== undefined;
  const progress = new Progress({ message: "Creating genesis deposits", logger });
  const onProgress = (done: number) => {
    options.signal?.throwIfAborted();
    progress.report(done, validators);
  };
  const created = depositsElsewhere
    ? { depositMessages: await collectInSlices(genesisDepositMessages(validatorKeys, options), onProgress) }
    : { signedDeposits: await collectInSlices(signedGenesisDeposits(baseConfig, validatorKeys, options), onProgress) };
  progress.finish();
  const evm = await creatingEvm;
  const chainConfig = devChainConfig({ ...parameters, evm: evm?.chain });
  const { state, config } = createDevGenesis({
    chainConfig,
    validatorCount: validators,
    genesisTime,
    executionGenesis: client?.block ?? evm?.block,
    depositsElsewhere,
    ...created,
    keys,
    withdrawals,
    balances,
    builders,
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
    builders,
    configOverrides,
    warmupEpochs,
    genesisTime,
    genesisValidatorsRoot: toRootHex(state.genesisValidatorsRoot),
    ...(execution && { execution }),
    ...(evm && { evm: evm.chain }),
    config: serializeConfig(chainConfig),
  };
  options.signal?.throwIfAborted();
  // Last, so that the old chain survives if creating the new one fails.
  if (reset) await rm(pubkeyFilePath(options.dataDir), { force: true });
  await initialiseDatabase(db, config, { state }, identity);
  return identity;
}

async function createEvm(
  thread: EvmThread,
  config: ChainConfig,
  chainId: number,
): Promise<{ chain: ExecutionChain; block: GenesisBlock }> {
  const block = await createEvmChain(thread, config, chainId);
  return { chain: { chainId, genesisBlockHash: toRootHex(block.blockHash) }, block };
}

function requireTimeForHistory(genesisTime: number, latest: number): void {
  if (genesisTime <= latest) return;
  throw new StartError(
    "genesisTooLate",
    `The genesis time ${timeText(genesisTime)} is too late: with its warm-up history, the chain must start by ${timeText(latest)}.`,
  );
}

/**
 * Throws unless genesis is later than the execution genesis block, since timestamps of execution blocks must increase.
 */
function requireTimeAfter({ timestamp }: GenesisBlock, genesisTime: number): void {
  if (timestamp <= genesisTime) return;
  throw new StartError(
    "executionGenesisTooLate",
    `The genesis time ${timeText(genesisTime)} is before the genesis block of the execution client at ${timeText(timestamp)}.`,
  );
}

/** Throws if the execution client already has blocks, since it would not build on its genesis block. */
function requireNoBlocks({ origin, latestNumber }: ExecutionGenesis): void {
  if (latestNumber === 0) return;
  throw new StartError(
    "executionClientHasBlocks",
    `The execution client ${origin} already has blocks of another chain, up to number ${latestNumber}.`,
  );
}

/** Checks that the deposit contract is on the chain of the execution client. */
function resolveDeposits(client: ExecutionGenesis | undefined, requested: DepositContractOptions): DepositContract {
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
  const limit = MAX_EMPTY_EPOCHS * SLOTS_PER_EPOCH;
  if (slots <= limit) return;
  throw new StartError(
    "tooFarBehind",
    `The chain is ${slots} slots behind the wall clock, but at most ${limit} can be left empty: after more, all ` +
      "validators could be ejected.",
  );
}

/** Returns the slot of the stopped chain. After a crash, the newest block may be ahead of the stored slot. */
async function lastSlot(db: BeaconDb): Promise<Slot> {
  const newest = await db.hotBlocks.last();
  return Math.max((await db.meta.getClockSlot()) ?? 0, newest?.slot ?? 0);
}
