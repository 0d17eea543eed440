import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { phase0, Slot } from "@lodestar/types";
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
import { DevBuilders } from "./builders/dev-builders.ts";
import { DevBranches } from "./control/branches.ts";
import { ChainReplacer } from "./control/chain-replacer.ts";
import { DepositLog } from "./control/deposit-log.ts";
import { DevDeposits } from "./control/deposits.ts";
import { DevDumps } from "./control/dumps.ts";
import { ExecutionRequestQueue } from "./control/execution-requests.ts";
import { DevLateBlocks } from "./control/late-blocks.ts";
import { DevOperations } from "./control/operations.ts";
import { DevPayloads } from "./control/payloads.ts";
import { DevSnapshots } from "./control/snapshots.ts";
import { DevTime, type SlotTrigger } from "./control/time.ts";
import { type PresenceStore, ValidatorPresence } from "./control/validator-presence.ts";
import { Automine } from "./evm/automine.ts";
import type { DevEvm } from "./evm/dev-evm.ts";
import { DevEvmControl, type DevEvmControlParts } from "./evm/evm-control.ts";
import type { FeeRecipient } from "./evm/fee-recipient.ts";
import type { GenesisBuilders } from "./genesis-parameters.ts";
import { LagMonitor } from "./lag-monitor.ts";
import { RegisteredKeys } from "./registered-keys.ts";
import type { DevSettings } from "./settings.ts";
import type { DevKeys } from "./validator-keys.ts";
import { WithheldPayloads } from "./validators/payloads/withheld-payloads.ts";
import type { SlashingProtection } from "./validators/slashing-protection.ts";
import { gateOnSync, isExpired } from "./validators/sync-gate.ts";
import { createDevValidators, type DevValidators } from "./validators/validators.ts";

interface DevChainParts {
  /** Already subscribed to the clock, so the chain processes a new slot before the validators act in it. */
  chain: BeaconChain;
  clock: VirtualClock;
  suspensions?: Pick<SuspensionWatch, "onSuspended">;
  engine: ExecutionEngine;
  /** Omitted if the payloads are not executed in this process. */
  evm?: DevEvm;
  db: BeaconDb;
  api: Api;
  /** True if other nodes can follow the chain (`--p2p`). */
  hasNetwork: boolean;
  /** True if the chain includes an execution client (`--el`, `--eth1`), which runs in real time. */
  hasExecutionClient: boolean;
  timeOfDay: TimeOfDay;
  keys: DevKeys;
  /** Deposits of the genesis validators. Undefined if deposits are made through a contract. */
  genesisDeposits: (() => phase0.DepositData[]) | undefined;
  /** Builders that the chain was created with. */
  builders: GenesisBuilders | undefined;
  settings: Pick<DevSettings, "activeValidators" | "catchUp" | "speed" | "warmupEpochs" | "withdrawals">;
  /** Presence set by `dev_setValidators`, which overrides `activeValidators`. */
  presenceStore: PresenceStore;
  feeRecipient: FeeRecipient;
  history: SlashingProtection;
  /** Persists the clock's current slot. */
  storeSlot(slot: Slot): Promise<void>;
  /** True if this run created the chain. */
  isNew: boolean;
  /** True if validators on other nodes may take part in the chain. */
  isShared: boolean;
  logger: Logger;
}

/** Offset between chain time and the wall clock. */
export interface ClockOffset {
  /** Positive if chain time is ahead. */
  offsetSeconds: number;
  slot: Slot;
  /** Slot according to the wall clock. */
  wallSlot: number;
  speed: number;
}

/** Runs a beacon chain in virtual time with in-process validators. */
export class DevChain {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly keys: DevKeys;
  /** Also contains the keys of validators added after genesis. */
  readonly registeredKeys: RegisteredKeys;
  /** Undefined for a chain without an EVM. */
  readonly evm: DevEvm | undefined;
  readonly control: DevControl;
  readonly isNew: boolean;
  readonly #validators: DevValidators;
  /** Validators that produce the warm-up history and missed slots, before the chain runs live. */
  readonly #warmupValidators: DevValidators;
  /** Undefined if the requests in payloads come from transactions. */
  readonly #requestQueue: ExecutionRequestQueue | undefined;
  readonly #warmupSlot: Slot;
  readonly #hasNetwork: boolean;
  readonly #keepsRealTime: boolean;
  /** True if missed slots are produced before time starts, including those that passed during the warm-up. */
  readonly #startsAtPresent: boolean;
  readonly #isShared: boolean;
  readonly #catchesUp: boolean;
  /** True if time flows once the chain runs; false if the chain starts paused. */
  readonly #flows: boolean;
  readonly #time: DevTime;
  readonly #lagMonitor: LagMonitor;
  readonly #timeOfDay: TimeOfDay;
  readonly #logger: Logger;
  #isLive = false;

  constructor(parts: DevChainParts) {
    const { chain, clock, api, hasNetwork, history, isNew, isShared } = parts;
    const { activeValidators, catchUp, speed, warmupEpochs, withdrawals } = parts.settings;
    const flows = speed > 0;
    const { config } = chain;
    this.config = config;
    this.clock = clock;
    this.chain = chain;
    this.api = api;
    this.keys = parts.keys;
    this.evm = parts.evm;
    this.isNew = isNew;
    this.#warmupSlot = warmupEpochs * SLOTS_PER_EPOCH;
    this.#hasNetwork = hasNetwork;
    // External validator clients run in real time, so their chain must not lag behind by the duration of the startup.
    this.#keepsRealTime =
      hasNetwork || catchUp || (isNew && flows && clock.speed === 1 && activeValidators !== undefined);
    this.#startsAtPresent = this.#keepsRealTime || (isNew && flows && clock.speed === 1);
    this.#isShared = isShared;
    this.#catchesUp = catchUp;
    this.#flows = flows;
    this.#timeOfDay = parts.timeOfDay;
    this.#logger = parts.logger;
    this.#lagMonitor = new LagMonitor({ clock, timers: SYSTEM_TIMERS, engine: parts.engine, logger: parts.logger });
    parts.suspensions?.onSuspended(() => this.#lagMonitor.reset());
    const { storeSlot } = parts;
    this.#time = new DevTime({
      clock,
      fixedReason: fixedTimeReason(parts),
      headSlot: () => chain.head.slot,
      onFlow: () => this.#lagMonitor.reset(),
      storeSlot,
      logger: parts.logger,
      timers: SYSTEM_TIMERS,
    });
    const time = this.#time;
    const { db, genesisDeposits, feeRecipient } = parts;
    const keys = new RegisteredKeys(this.keys, chain);
    this.registeredKeys = keys;
    const presence = new ValidatorPresence({
      keys,
      time,
      activeValidators,
      stored: parts.presenceStore,
      onChange: (online) => chain.preparations.prepareOwn(online, feeRecipient.address),
    });
    const branches = new DevBranches({ chain, time });
    const lateBlocks = new DevLateBlocks({ clock, config, time });
    const withheld = new WithheldPayloads();
    const hasOtherFaults = () =>
      lateBlocks.isPending || builders.mayWithhold || presence.onlineNow().size < chain.headState.validators.length;
    const payloads = new DevPayloads({ chain, keys, time, withheld, hasOtherFaults });
    const snapshots = new DevSnapshots({
      chain,
      time,
      // `presence` passes the fee recipient to the chain, so it is reverted after `feeRecipient`.
      revertible: [
        clock,
        history,
        feeRecipient,
        presence,
        lateBlocks,
        payloads,
        { capture: () => builders.capture() },
        { capture: () => () => this.#onReverted() },
        // Held back objects are dropped with the duties.
        { capture: () => this.#validators.captureLate() },
      ],
      evm: parts.evm?.thread,
    });
    const onReplacing = async () => parts.evm?.thread.detach();
    const onReplaced = async () => {
      this.#onReverted();
      payloads.clear();
      builders.clear();
      await parts.evm?.restore();
      if (parts.evm) await chain.pendingVerdicts.untilHeadVerdict();
      await feeRecipient.reload();
      await presence.reload();
    };
    const replacement = { hasEvm: parts.evm !== undefined, onReplacing, onReplaced, logger: parts.logger };
    const replacer = new ChainReplacer({ chain, clock, time, db, history, ...replacement });
    const dumps = new DevDumps({ chain, time, db, history, replacer });
    this.#requestQueue = createRequestQueue(parts);
    const requests = parts.evm?.requests ?? this.#requestQueue;
    const depositLog = parts.evm?.deposits ?? (genesisDeposits && new DepositLog({ chain, genesisDeposits }));
    const deposits = requests && depositLog && new DevDeposits({ chain, keys, requests, log: depositLog, withdrawals });
    const builders = new DevBuilders({ chain, time, builders: parts.builders, requests });
    const operations = new DevOperations({ api, chain, db, time, keys, requests, deposits });
    const setFeeRecipient = async (address: Uint8Array) => {
      await feeRecipient.set(address);
      chain.preparations.prepareOwn(presence.onlineNow(), address);
    };
    const evm = parts.evm && this.#controlEvm(parts.evm, setFeeRecipient);
    const reset = (signal?: AbortSignal) => replacer.reset(signal);
    const faults = { lateBlocks, payloads, builders };
    this.control = { time, validators: presence, branches, ...faults, operations, keys, snapshots, dumps, evm, reset };

    const logger = parts.logger.topic("validators");
    // Builders cannot build blocks for past slots.
    const hasBuilder = () => chain.builder !== undefined && this.#isLive;
    const isAlone = !hasNetwork && !parts.hasExecutionClient;
    const hasVoteListeners = () =>
      chain.events.hasListeners("attestation") || chain.events.hasListeners("contribution");
    const fastPath = {
      chain,
      isAllowed: () => isAlone && !hasBuilder() && !hasVoteListeners() && !chain.status.isOptimistic,
    };
    const modules = {
      api,
      clock,
      config,
      keys,
      logger,
      history,
      hasBuilder,
      fastPath,
      withheld,
      builderBids: builders.bids,
    };
    const ungated = createDevValidators({
      ...modules,
      isPast: (slot) => isShared && this.#isLive && isExpired(clock, slot),
      plan: (slot) => ({
        online: presence.onlineNow(),
        ...payloads.planAt(slot),
        ...(branches.plan ?? { blockDelay: lateBlocks.delayAt(slot) }),
      }),
    });
    const validators = isShared ? gateOnSync({ validators: ungated, status: chain.status, logger }) : ungated;
    // Before the first run, all validators act here, even if some of them run on other nodes later.
    const warmupValidators = isShared && isNew ? createDevValidators(modules) : validators;
    this.#validators = validators;
    this.#warmupValidators = warmupValidators;
    chain.events.on("head", (head) => {
      for (const each of new Set([validators, warmupValidators])) each.onHead(head);
    });
    time.onSlot(async (slot, trigger) => {
      await depositLog?.onSlot(slot);
      if (trigger !== "skip") await builders.onSlot(slot);
      await this.#act(slot, trigger);
    });
    // A call that advances time stores the slot once, at the end. Until the call ends, the slot follows from the newest
    // block.
    time.onSlot((slot, trigger) => (trigger === "flow" ? storeSlot(slot) : undefined));
  }

  /** True once the warm-up is over and the chain runs. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Number of slots that `warmUp` still has to produce. */
  get missingSlots(): number {
    const { currentSlot, genesisTime, secondsPerSlot } = this.clock;
    const slotTime = new SlotTime(genesisTime, secondsPerSlot);
    const present = this.#startsAtPresent ? slotTime.slotAt(this.#timeOfDay.nowSeconds()) : 0;
    return Math.max(0, Math.max(this.#warmupSlot, present) - currentSlot);
  }

  /** Offset between chain time and the wall clock; null if it is less than a slot. */
  get clockOffset(): ClockOffset | null {
    const { genesisTime, secondsPerSlot, speed, currentSlot } = this.clock;
    const offsetSeconds = this.clock.offsetSeconds();
    if (Math.abs(offsetSeconds) < secondsPerSlot) return null;
    const wallSlot = new SlotTime(genesisTime, secondsPerSlot).slotAt(this.#timeOfDay.nowSeconds());
    return { offsetSeconds, slot: currentSlot, wallSlot, speed };
  }

  /** Produces the warm-up history and missed slots as fast as possible. */
  warmUp(): Promise<void> {
    return this.#time.exclusive(() => this.#warmUp());
  }

  async #warmUp(): Promise<void> {
    // Many empty epochs may have to be processed, so the state is computed before the first proposer needs it.
    if (this.#catchesUp) await this.chain.states.afterBlock(this.chain.head.root, this.clock.currentSlot);
    const from = this.clock.currentSlot;
    const message = from < this.#warmupSlot ? "Producing warm-up history" : "Catching up on missed slots";
    const progress = new Progress({ message, logger: this.#logger });
    const stopReporting = this.clock.onSlot((slot) => {
      const target = slot + this.missingSlots;
      progress.report(slot - from, target - from, (slotsPerSecond) => ({ slot, target, slotsPerSecond }));
    });
    try {
      // Further slots may begin while the clock advances.
      for (let missing = this.missingSlots; missing > 0; missing = this.missingSlots) {
        await this.clock.advanceTo(this.clock.currentSlot + missing);
      }
    } finally {
      stopReporting();
    }
  }

  /** Goes live and starts the clock, unless the chain starts paused or a call has already paused it. */
  run(): Promise<void> {
    return this.#time.exclusive(async () => {
      this.#isLive = true;
      if (!(this.#time.requestedFlow ?? this.#flows)) return;
      const present = this.#startsAtPresent ? { fromSeconds: this.#timeOfDay.nowSeconds() } : {};
      if (!this.clock.isFlowing) {
        this.clock.run({ ...present, keepTimetable: this.#keepsRealTime, skipMissed: this.#isShared });
      }
      this.#lagMonitor.reset();
    });
  }

  /** Stops the clock and the validators. */
  async close(): Promise<void> {
    await Promise.all([this.clock.stop(), this.#validators.close(), this.#warmupValidators.close()]);
  }

  #controlEvm({ control, eth, thread }: DevEvm, setFeeRecipient: DevEvmControlParts["setFeeRecipient"]): DevEvmControl {
    const automine = new Automine({
      clock: this.clock,
      time: this.#time,
      isLive: () => this.#isLive,
      headSlot: () => this.chain.head.slot,
      untilFollowed: () => this.chain.pendingVerdicts.untilHeadVerdict(),
      executableCount: () => thread.executableCount(),
      timers: SYSTEM_TIMERS,
    });
    eth.afterSend(() => automine.onTransaction());
    const { clock } = this;
    return new DevEvmControl({ control, automine, clock, setFeeRecipient, hasNetwork: this.#hasNetwork });
  }

  #onReverted(): void {
    this.#requestQueue?.forgetBlocks();
    for (const each of new Set([this.#validators, this.#warmupValidators])) each.onReverted();
  }

  async #act(slot: Slot, trigger: SlotTrigger): Promise<void> {
    if (trigger === "skip") return;
    if (trigger === "advance") return this.#validators.onSlot(slot, "lockstep");
    if (this.#isLive) {
      if (this.clock.isFlowing) this.#lagMonitor.onSlot(slot);
      return this.#validators.onSlot(slot);
    }
    const isCatchingUp = slot <= this.#warmupSlot || this.#hasNetwork;
    return this.#warmupValidators.onSlot(slot, isCatchingUp ? "lockstep" : undefined);
  }
}

/**
 * Creates the queue of execution requests for payloads built by the built-in engine. Returns undefined for other
 * engines.
 */
function createRequestQueue({ engine, chain, db }: DevChainParts): ExecutionRequestQueue | undefined {
  if (!(engine instanceof DevExecutionEngine)) return undefined;
  const requests = new ExecutionRequestQueue(chain, db);
  engine.takeRequestsFrom(({ parentBeaconBlockRoot, parent }) =>
    requests.selectFor(toRootHex(parentBeaconBlockRoot), toRootHex(parent.blockHash)),
  );
  return requests;
}

/** Returns the error message for a chain whose time cannot be moved or paused, or undefined for other chains. */
function fixedTimeReason({ hasNetwork, hasExecutionClient }: DevChainParts): string | undefined {
  if (hasNetwork) return "Time control is unavailable with --p2p: other nodes follow real time.";
  if (hasExecutionClient) {
    return "Time control is unavailable with --el and --eth1: the execution client follows real time.";
  }
  return undefined;
}
