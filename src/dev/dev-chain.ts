import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { ACTIVE_PRESET, SLOTS_PER_EPOCH } from "@lodestar/params";
import { createPubkeyCache } from "@lodestar/state-transition";
import type { Slot, ValidatorIndex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { type Api, createApi } from "../api/api.ts";
import type { FuturesView } from "../api/futures.ts";
import { initialiseDatabase } from "../chain/anchor.ts";
import { BeaconChain } from "../chain/chain.ts";
import { VirtualClock } from "../chain/clock/virtual-clock.ts";
import type { StateStoreLimits } from "../chain/states/state-store.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import type { Logger } from "../log/logger.ts";
import { LocalNode } from "../network/local-node.ts";
import { noNetwork } from "../network/network-view.ts";
import { openNodeKey } from "../network/node-key.ts";
import { onlyKeysOf } from "./active-keys.ts";
import { devChainConfig } from "./chain-config.ts";
import { createDevGenesis } from "./genesis.ts";
import { type DevIdentity, type DevParameters, requireSameChain } from "./identity.ts";
import { InteropKeys } from "./interop-keys.ts";
import { createDevValidators, type DevValidators } from "./validators/validators.ts";

export interface DevChainOptions extends Omit<DevParameters, "preset"> {
  speed: number;
  /** How much history is made at once when the chain is new. */
  warmupEpochs: number;
  /** Of a new chain; by default such that the warm-up history ends now. */
  genesisTime?: number;
  graffiti?: Uint8Array;
  /** The validators that do their duties by themselves; by default all. */
  activeValidators?: readonly ValidatorIndex[];
  stateLimits?: StateStoreLimits;
  snapshotIntervalEpochs?: number;
  logger: Logger;
  setLogSpec(spec: string): void;
  futures?: FuturesView;
}

interface DevChainParts {
  config: BeaconConfig;
  clock: VirtualClock;
  chain: BeaconChain;
  api: Api;
  keys: InteropKeys;
  validators: DevValidators;
  warmupSlot: Slot;
  keepsRealTime: boolean;
}

/** A whole beacon chain in one process: virtual time, validators of its own, and the dev execution engine. */
export class DevChain {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly keys: InteropKeys;
  readonly #validators: DevValidators;
  readonly #warmupSlot: Slot;
  readonly #keepsRealTime: boolean;

  /** Opens the dev chain of the database where it stopped, or makes a new one there. */
  static async open(db: BeaconDb, options: DevChainOptions): Promise<DevChain> {
    const { logger, slotSeconds, speed } = options;
    const stored = await storedIdentity(db, options);
    const identity = stored ?? (await createChain(db, options));
    const config = createBeaconConfig(devChainConfig(identity), fromHex(identity.genesisValidatorsRoot));
    const clock = new VirtualClock({
      genesisTime: identity.genesisTime,
      secondsPerSlot: slotSeconds,
      startSlot: await slotWhereStopped(db),
      speed,
      onListenerError: (error, slot) => logger.error("The work of a slot failed", { slot, error }),
    });
    const chain = await BeaconChain.open({
      config,
      db,
      clock,
      engine: new DevExecutionEngine(),
      pubkeyCache: createPubkeyCache(),
      logger,
      graffiti: options.graffiti,
      stateLimits: options.stateLimits,
      snapshotIntervalEpochs: options.snapshotIntervalEpochs,
    });
    const network = noNetwork(new LocalNode({ key: await openNodeKey(db), config, clock }));
    const api = createApi({ chain, network, setLogSpec: options.setLogSpec, futures: options.futures });
    const keys = new InteropKeys(identity.validators);
    const validators = createDevValidators({
      api,
      clock,
      config,
      keys: options.activeValidators ? onlyKeysOf(keys, options.activeValidators) : keys,
      logger: logger.topic("validators"),
      speed,
    });
    const warmupSlot = options.warmupEpochs * SLOTS_PER_EPOCH;
    // Validators that are left to clients act by real time, so a chain that needs them must not lag by its own start-up.
    const keepsRealTime = stored === null && speed === 1 && options.activeValidators !== undefined;
    const devChain = new DevChain({ config, clock, chain, api, keys, validators, warmupSlot, keepsRealTime });
    clock.onSlot((slot) => db.meta.putClockSlot(slot));
    return devChain;
  }

  private constructor({ config, clock, chain, api, keys, validators, warmupSlot, keepsRealTime }: DevChainParts) {
    this.config = config;
    this.clock = clock;
    this.chain = chain;
    this.api = api;
    this.keys = keys;
    this.#validators = validators;
    this.#warmupSlot = warmupSlot;
    this.#keepsRealTime = keepsRealTime;
    // The chain takes note of a new slot before its validators act in it.
    chain.start();
    chain.events.on("head", (head) => validators.onHead(head));
    clock.onSlot((slot) => validators.onSlot(slot, slot <= warmupSlot ? "lockstep" : undefined));
  }

  /** Makes what is missing of the warm-up history, as fast as it goes. */
  async warmUp(): Promise<void> {
    if (this.clock.currentSlot < this.#warmupSlot) await this.clock.advanceTo(this.#warmupSlot);
    if (!this.#keepsRealTime) return;
    const { genesisTime, secondsPerSlot } = this.clock;
    const realSlot = Math.floor((Date.now() / 1000 - genesisTime) / secondsPerSlot);
    if (this.clock.currentSlot < realSlot) await this.clock.advanceTo(realSlot);
  }

  /** Lets time flow. */
  run(): void {
    this.clock.run(this.#keepsRealTime ? { fromSeconds: Date.now() / 1000, keepTimetable: true } : {});
  }

  async close(): Promise<void> {
    await Promise.all([this.clock.stop(), this.#validators.close()]);
    await this.chain.close();
  }
}

async function storedIdentity(db: BeaconDb, wanted: DevChainOptions): Promise<DevIdentity | null> {
  const stored = await db.meta.getIdentity();
  return stored === null ? null : requireSameChain(stored, { ...wanted, preset: ACTIVE_PRESET });
}

async function createChain(db: BeaconDb, options: DevChainOptions): Promise<DevIdentity> {
  const { validators, forks, slotSeconds, warmupEpochs } = options;
  const warmupSeconds = warmupEpochs * SLOTS_PER_EPOCH * slotSeconds;
  const { genesisTime = Math.floor(Date.now() / 1000) - warmupSeconds } = options;
  const chainConfig = devChainConfig({ forks, slotSeconds, genesisTime });
  const { state, config } = createDevGenesis({ chainConfig, validatorCount: validators, genesisTime });
  const identity: DevIdentity = {
    kind: "dev",
    preset: ACTIVE_PRESET,
    validators,
    forks,
    slotSeconds,
    genesisTime,
    genesisValidatorsRoot: toRootHex(state.genesisValidatorsRoot),
  };
  await initialiseDatabase(db, config, { state }, identity);
  return identity;
}

/** After a crash the newest block may be ahead of the slot that was noted last. */
async function slotWhereStopped(db: BeaconDb): Promise<Slot> {
  const newest = await db.hotBlocks.last();
  return Math.max((await db.meta.getClockSlot()) ?? 0, newest?.slot ?? 0);
}
