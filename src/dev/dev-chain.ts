import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { phase0, Slot, ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Api } from "../api/api.ts";
import type { DevControl } from "../api/dev-control.ts";
import { SYSTEM_TIMERS } from "../async/timers.ts";
import type { BeaconChain } from "../chain/chain.ts";
import { SlotTime } from "../chain/clock/clock.ts";
import type { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { TimeOfDay } from "../chain/clock/time-of-day.ts";
import type { VirtualClock } from "../chain/clock/virtual-clock.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import { DevBranches } from "./control/branches.ts";
import { DepositLog } from "./control/deposit-log.ts";
import { DevDeposits } from "./control/deposits.ts";
import { DevDumps } from "./control/dumps.ts";
import { ExecutionRequestQueue } from "./control/execution-requests.ts";
import { DevLateBlocks } from "./control/late-blocks.ts";
import { DevOperations } from "./control/operations.ts";
import { DevSnapshots } from "./control/snapshots.ts";
import { DevTime } from "./control/time.ts";
import { DevPresence, type StoredPresence } from "./control/validators.ts";
import { PaceWatch } from "./pace-watch.ts";
import { RegisteredKeys } from "./registered-keys.ts";
import type { DevKeys } from "./validator-keys.ts";
import { DEV_FEE_RECIPIENT } from "./validators/fee-recipient.ts";
import type { SlashingProtection } from "./validators/slashing-protection.ts";
import { isLongPast, whileSynced } from "./validators/synced-validators.ts";
import { createDevValidators, type DevValidators } from "./validators/validators.ts";

interface DevChainParts {
  /** Follows the clock already, so that it takes note of a new slot before its validators act in it. */
  chain: BeaconChain;
  clock: VirtualClock;
  suspensions?: Pick<SuspensionWatch, "onSuspended">;
  engine: ExecutionEngine;
  db: BeaconDb;
  api: Api;
  /** Whether other nodes may follow the chain. */
  hasNetwork: boolean;
  /** Whether the chain has to do with an execution client, which has a time of its own. */
  hasExecutionClient: boolean;
  timeOfDay: TimeOfDay;
  keys: DevKeys;
  /** The deposits of these validators; undefined where deposits are made at a contract of an execution client. */
  genesisDeposits: (() => phase0.DepositData[]) | undefined;
  /** Those that do their duties by themselves; all when left out. */
  activeValidators?: readonly ValidatorIndex[];
  /** Who was told to be online or offline instead. */
  storedPresence: StoredPresence;
  /** What they signed before. */
  history: SlashingProtection;
  /** Stores the slot where the clock stands. */
  keepSlot(slot: Slot): Promise<void>;
  warmupEpochs: number;
  /** Whether the chain was made just now. */
  isNew: boolean;
  /** Whether validators of other nodes may have a part in the chain. */
  isShared: boolean;
  /** Whether the chain's time is the real time although nobody else follows it. */
  catchesUp: boolean;
  /** Whether time flows by itself once the chain runs. */
  flows: boolean;
  logger: Logger;
}

export interface TimeDifference {
  /** By which chain time is ahead; negative when it is behind. */
  offsetSeconds: number;
  slot: Slot;
  /** The slot by the time of day. */
  wallSlot: number;
  speed: number;
}

/** A beacon chain in virtual time, with validators of its own. */
export class DevChain {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly keys: DevKeys;
  readonly control: DevControl;
  readonly isNew: boolean;
  readonly #validators: DevValidators;
  /** Who acts before the chain runs live. */
  readonly #founders: DevValidators;
  readonly #warmupSlot: Slot;
  readonly #hasNetwork: boolean;
  readonly #keepsRealTime: boolean;
  /** Whether slots that have passed are made up for before time flows: of a new chain also those that its warm-up took. */
  readonly #beginsAtPresent: boolean;
  readonly #isShared: boolean;
  readonly #catchesUp: boolean;
  readonly #flows: boolean;
  readonly #time: DevTime;
  readonly #paceWatch: PaceWatch;
  readonly #timeOfDay: TimeOfDay;
  readonly #logger: Logger;
  #isLive = false;

  constructor(parts: DevChainParts) {
    const { chain, clock, api, hasNetwork, activeValidators, history, isNew, isShared, catchesUp, flows } = parts;
    const { config } = chain;
    this.config = config;
    this.clock = clock;
    this.chain = chain;
    this.api = api;
    this.keys = parts.keys;
    this.isNew = isNew;
    this.#warmupSlot = parts.warmupEpochs * SLOTS_PER_EPOCH;
    this.#hasNetwork = hasNetwork;
    // Validators that are left to clients act by real time, so a chain that needs them must not lag by its own start-up.
    this.#keepsRealTime =
      hasNetwork || catchesUp || (isNew && flows && clock.speed === 1 && activeValidators !== undefined);
    this.#beginsAtPresent = this.#keepsRealTime || (isNew && flows && clock.speed === 1);
    this.#isShared = isShared;
    this.#catchesUp = catchesUp;
    this.#flows = flows;
    this.#timeOfDay = parts.timeOfDay;
    this.#logger = parts.logger;
    this.#paceWatch = new PaceWatch({ clock, timers: SYSTEM_TIMERS, engine: parts.engine, logger: parts.logger });
    parts.suspensions?.onSuspended(() => this.#paceWatch.begin());
    const { keepSlot } = parts;
    this.#time = new DevTime({
      clock,
      fixedBy: timeIsFixedBy(parts),
      headSlot: () => chain.head.slot,
      onFlow: () => this.#paceWatch.begin(),
      keepSlot,
    });
    const time = this.#time;
    const { db, genesisDeposits } = parts;
    const keys = new RegisteredKeys(this.keys, chain);
    const presence = new DevPresence({
      keys,
      time,
      activeValidators,
      stored: parts.storedPresence,
      onChange: (online) => chain.preparations.prepareOwn(online, DEV_FEE_RECIPIENT),
    });
    const branches = new DevBranches({ chain, time });
    const lateBlocks = new DevLateBlocks({ clock, config, time });
    const snapshots = new DevSnapshots({
      chain,
      time,
      revertible: [clock, history, presence, lateBlocks, { capture: () => () => this.#onGoneBack() }],
    });
    const onReplaced = () => {
      this.#onGoneBack();
      return presence.reload();
    };
    const dumps = new DevDumps({ chain, clock, time, db, history, onReplaced, logger: parts.logger });
    const requests = requestsOf(parts);
    const depositLog = genesisDeposits && new DepositLog({ chain, genesisDeposits });
    const deposits = requests && depositLog && new DevDeposits({ chain, keys, requests, log: depositLog });
    const operations = new DevOperations({ api, chain, db, time, keys, requests, deposits });
    this.control = { time, validators: presence, branches, lateBlocks, operations, keys, snapshots, dumps };

    const logger = parts.logger.topic("validators");
    // History is made without the builder, which has no part in the past.
    const hasBuilder = () => chain.builder !== undefined && this.#isLive;
    const isAlone = !hasNetwork && !parts.hasExecutionClient;
    const isOverheard = () => chain.events.hasListeners("attestation") || chain.events.hasListeners("contribution");
    const shortcut = {
      chain,
      isOpen: () => isAlone && !hasBuilder() && !isOverheard() && !chain.status.isOptimistic,
    };
    const modules = { api, clock, config, keys, logger, history, hasBuilder, shortcut };
    const own = createDevValidators({
      ...modules,
      isPast: (slot) => isShared && this.#isLive && isLongPast(clock, slot),
      plan: (slot) => ({
        online: presence.onlineNow(),
        ...(branches.plan ?? { lateness: lateBlocks.latenessAt(slot) }),
      }),
    });
    const validators = isShared ? whileSynced({ validators: own, status: chain.status, logger }) : own;
    // Nobody else has a part in what happened before the first run, in which all validators act.
    const founders = isShared && isNew ? createDevValidators(modules) : validators;
    this.#validators = validators;
    this.#founders = founders;
    chain.events.on("head", (head) => {
      for (const each of new Set([validators, founders])) each.onHead(head);
    });
    clock.onSlot(async (slot) => {
      await depositLog?.onSlot(slot);
      await this.#act(slot);
    });
    // Slots that somebody lets pass are stored when all have; until then the newest block tells of them.
    clock.onSlot((slot) => (this.#time.passing === "by-itself" ? keepSlot(slot) : undefined));
  }

  /** Whether time flows, after all history was made. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** How many slots `warmUp` goes through. */
  get missingSlots(): number {
    const { currentSlot, genesisTime, secondsPerSlot } = this.clock;
    const slotTime = new SlotTime(genesisTime, secondsPerSlot);
    const present = this.#beginsAtPresent ? slotTime.slotAt(this.#timeOfDay.nowSeconds()) : 0;
    return Math.max(0, Math.max(this.#warmupSlot, present) - currentSlot);
  }

  /** How chain time and the time of day differ; null when tools that go by the time of day find the same slot. */
  get timeDifference(): TimeDifference | null {
    const { genesisTime, secondsPerSlot, speed, currentSlot } = this.clock;
    const offsetSeconds = this.clock.offsetSeconds();
    if (Math.abs(offsetSeconds) < secondsPerSlot) return null;
    const wallSlot = new SlotTime(genesisTime, secondsPerSlot).slotAt(this.#timeOfDay.nowSeconds());
    return { offsetSeconds, slot: currentSlot, wallSlot, speed };
  }

  /** Makes what is missing of the warm-up history and, of a chain that begins at the present, of the time since, as fast as it goes. */
  warmUp(): Promise<void> {
    return this.#time.inTurn(() => this.#warmUp());
  }

  async #warmUp(): Promise<void> {
    // The state of the present may be many empty epochs away. It is made before the first proposer needs it in time.
    if (this.#catchesUp) await this.chain.states.afterBlock(this.chain.head.root, this.clock.currentSlot);
    const progress = new Progress({ message: "Making history", logger: this.#logger });
    const from = this.clock.currentSlot;
    const stopTelling = this.clock.onSlot((slot) => {
      const target = slot + this.missingSlots;
      progress.report(slot - from, target - from, (slotsPerSecond) => ({ slot, target, slotsPerSecond }));
    });
    try {
      // Time goes on while slots are made up for.
      for (let missing = this.missingSlots; missing > 0; missing = this.missingSlots) {
        await this.clock.advanceTo(this.clock.currentSlot + missing);
      }
    } finally {
      stopTelling();
    }
  }

  /** Lets time flow, unless it is to stand still until it is told to go on, be it by somebody who was faster. */
  run(): Promise<void> {
    return this.#time.inTurn(async () => {
      this.#isLive = true;
      if (!(this.#time.isToFlow ?? this.#flows)) return;
      const present = this.#beginsAtPresent ? { fromSeconds: this.#timeOfDay.nowSeconds() } : {};
      if (!this.clock.isFlowing) {
        this.clock.run({ ...present, keepTimetable: this.#keepsRealTime, skipMissed: this.#isShared });
      }
      this.#paceWatch.begin();
    });
  }

  /** Ends time, and whatever its validators are about to do. */
  async close(): Promise<void> {
    await Promise.all([this.clock.stop(), this.#validators.close(), this.#founders.close()]);
  }

  #onGoneBack(): void {
    for (const each of new Set([this.#validators, this.#founders])) each.onGoneBack();
  }

  async #act(slot: Slot): Promise<void> {
    const { passing } = this.#time;
    if (passing === "skipped") return;
    if (passing === "advanced") return this.#validators.onSlot(slot, "lockstep");
    if (this.#isLive) {
      if (this.clock.isFlowing) this.#paceWatch.onSlot(slot);
      return this.#validators.onSlot(slot);
    }
    const makesUp = slot <= this.#warmupSlot || this.#hasNetwork;
    return this.#founders.onSlot(slot, makesUp ? "lockstep" : undefined);
  }
}

/** Where execution requests wait for payloads; undefined where an execution client makes these. */
function requestsOf({ engine, chain, db }: DevChainParts): ExecutionRequestQueue | undefined {
  if (!(engine instanceof DevExecutionEngine)) return undefined;
  const requests = new ExecutionRequestQueue(chain, db);
  engine.takeRequestsFrom(({ parentBeaconBlockRoot }) => requests.after(toRootHex(parentBeaconBlockRoot)));
  return requests;
}

/** Why nobody may move or stop the time of a chain; undefined when it is this process's alone. */
function timeIsFixedBy({ hasNetwork, hasExecutionClient }: DevChainParts): string | undefined {
  const refusal = "This would move the time of the chain, or need it to stand still, and it can do neither:";
  if (hasNetwork) return `${refusal} other nodes follow it (--p2p), and they go by the time of day.`;
  if (hasExecutionClient) {
    return `${refusal} an execution client (--el, --eth1) has a part in it and goes by the time of day.`;
  }
  return undefined;
}
