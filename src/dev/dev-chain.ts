import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { ACTIVE_PRESET, SLOTS_PER_EPOCH } from "@lodestar/params";
import { createPubkeyCache } from "@lodestar/state-transition";
import type { Slot, ValidatorIndex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { type Api, createApi } from "../api/api.ts";
import type { FuturesView } from "../api/futures.ts";
import { initialiseDatabase } from "../chain/anchor.ts";
import { BeaconChain } from "../chain/chain.ts";
import type { SlotListener } from "../chain/clock/clock.ts";
import { VirtualClock } from "../chain/clock/virtual-clock.ts";
import type { StateStoreLimits } from "../chain/states/state-store.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import type { Logger } from "../log/logger.ts";
import type { NetworkingOptions } from "../network/networking-options.ts";
import { openNetworkSide } from "../sync/network-side.ts";
import type { Networking } from "../sync/networking.ts";
import { onlyKeysOf } from "./active-keys.ts";
import { devChainConfig } from "./chain-config.ts";
import { createDevGenesis } from "./genesis.ts";
import { type DevIdentity, type DevParameters, requireSameChain } from "./identity.ts";
import { InteropKeys, type ValidatorKeys } from "./interop-keys.ts";
import { SlashingProtection, slashingProtectionStore } from "./validators/slashing-protection.ts";
import { whileSynced } from "./validators/synced-validators.ts";
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
  /** By default the chain keeps to itself. With other nodes its time is the real time, so `speed` must be 1. */
  networking?: NetworkingOptions;
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
  isNew: boolean;
  networking: Networking | undefined;
  validators: DevValidators;
  founders: DevValidators;
  warmupSlot: Slot;
  keepsRealTime: boolean;
  noteSlot: SlotListener;
}

/** A whole beacon chain in one process: virtual time, validators of its own, and the dev execution engine. */
export class DevChain {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly keys: InteropKeys;
  /** Whether the chain was made just now. */
  readonly isNew: boolean;
  /** Not started: that is for whoever runs the chain, when its history is made. */
  readonly networking: Networking | undefined;
  readonly #validators: DevValidators;
  /** Who acts before the chain runs live. */
  readonly #founders: DevValidators;
  readonly #warmupSlot: Slot;
  readonly #keepsRealTime: boolean;
  #isLive = false;

  /** Opens the dev chain of the database where it stopped, or makes a new one there. */
  static async open(db: BeaconDb, options: DevChainOptions): Promise<DevChain> {
    const { logger, slotSeconds, speed, activeValidators } = options;
    const stored = await storedIdentity(db, options);
    const isNew = stored === null;
    const identity = stored ?? (await createChain(db, options));
    const history = await SlashingProtection.open(slashingProtectionStore(db));
    const config = createBeaconConfig(devChainConfig(identity), fromHex(identity.genesisValidatorsRoot));
    // Validators of other nodes went on while this one was stopped: their chain is taken over, not made up for.
    const hasOthers = options.networking !== undefined && activeValidators !== undefined;
    const stoppedAt = await slotWhereStopped(db);
    const clock = new VirtualClock({
      genesisTime: identity.genesisTime,
      secondsPerSlot: slotSeconds,
      startSlot: hasOthers && !isNew ? Math.max(stoppedAt, realSlot(identity.genesisTime, slotSeconds)) : stoppedAt,
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
      // However long all nodes were stopped, somebody has to go on: that the others are not ahead is enough to begin.
      syncHorizonSlots: hasOthers ? Number.POSITIVE_INFINITY : undefined,
    });
    const { view, networking } = await openNetworkSide({ chain, db, options: options.networking, logger });
    const { setLogSpec, futures } = options;
    const { broadcast, sync } = networking ?? {};
    const api = createApi({ chain, network: view, broadcast, sync, setLogSpec, futures });
    const keys = new InteropKeys(identity.validators);
    const log = logger.topic("validators");
    const validatorsWith = (chosen: ValidatorKeys) =>
      createDevValidators({ api, clock, config, keys: chosen, logger: log, speed, history });
    const own = validatorsWith(activeValidators ? onlyKeysOf(keys, activeValidators) : keys);
    const validators =
      hasOthers && networking
        ? whileSynced({ validators: own, sync: networking.sync, isFounder: isNew, logger: log })
        : own;
    return new DevChain({
      config,
      clock,
      chain,
      api,
      keys,
      isNew,
      networking,
      validators,
      // Nobody else has a part in what happened before the first run.
      founders: hasOthers && isNew ? validatorsWith(keys) : validators,
      warmupSlot: options.warmupEpochs * SLOTS_PER_EPOCH,
      // Validators that are left to clients act by real time, so a chain that needs them must not lag by its own start-up.
      keepsRealTime: networking !== undefined || (isNew && speed === 1 && activeValidators !== undefined),
      noteSlot: (slot) => db.meta.putClockSlot(slot),
    });
  }

  private constructor(parts: DevChainParts) {
    const { clock, chain, validators, founders } = parts;
    this.config = parts.config;
    this.clock = clock;
    this.chain = chain;
    this.api = parts.api;
    this.keys = parts.keys;
    this.isNew = parts.isNew;
    this.networking = parts.networking;
    this.#validators = validators;
    this.#founders = founders;
    this.#warmupSlot = parts.warmupSlot;
    this.#keepsRealTime = parts.keepsRealTime;
    // The chain takes note of a new slot before its validators act in it.
    chain.start();
    chain.events.on("head", (head) => {
      for (const each of new Set([validators, founders])) each.onHead(head);
    });
    clock.onSlot((slot) => this.#act(slot));
    clock.onSlot(parts.noteSlot);
  }

  /** How many slots `warmUp` goes through. */
  get missingSlots(): number {
    const { currentSlot, genesisTime, secondsPerSlot } = this.clock;
    const present = this.#keepsRealTime ? realSlot(genesisTime, secondsPerSlot) : 0;
    return Math.max(0, Math.max(this.#warmupSlot, present) - currentSlot);
  }

  /** Makes what is missing of the warm-up history and, of a chain in real time, of the time since, as fast as it goes. */
  async warmUp(): Promise<void> {
    // Time goes on while slots are made up for.
    for (let missing = this.missingSlots; missing > 0; missing = this.missingSlots) {
      await this.clock.advanceTo(this.clock.currentSlot + missing);
    }
  }

  /** Lets time flow. */
  run(): void {
    this.#isLive = true;
    this.clock.run(this.#keepsRealTime ? { fromSeconds: Date.now() / 1000, keepTimetable: true } : {});
  }

  async close(): Promise<void> {
    await Promise.all([this.clock.stop(), this.#validators.close(), this.#founders.close()]);
    await this.networking?.close();
    await this.chain.close();
  }

  #act(slot: Slot): Promise<void> {
    if (this.#isLive) return this.#validators.onSlot(slot);
    const makesUp = slot <= this.#warmupSlot || this.networking !== undefined;
    return this.#founders.onSlot(slot, makesUp ? "lockstep" : undefined);
  }
}

/** The slot that the time of day asks for. */
function realSlot(genesisTime: number, slotSeconds: number): Slot {
  return Math.floor((Date.now() / 1000 - genesisTime) / slotSeconds);
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
