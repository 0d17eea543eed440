import { FAR_FUTURE_EPOCH, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import {
  type CachedBeaconStateGloas,
  getCurrentEpoch,
  getPendingBalanceToWithdrawForBuilder,
  isActiveBuilder,
} from "@lodestar/state-transition";
import { type BuilderIndex, type gloas, type Slot, ssz } from "@lodestar/types";
import type {
  BidOptions,
  BuilderControl,
  BuilderInfo,
  BuilderStatus,
  QueuedRequest,
} from "../../api/builder-control.ts";
import { ControlError } from "../../api/dev-control.ts";
import { type AffectedSlots, errorBeforeGloas } from "../../api/payload-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ExecutionRequestSink } from "../control/execution-requests.ts";
import type { DevTime } from "../control/time.ts";
import type { GenesisBuilders } from "../genesis-parameters.ts";
import { BuilderDeposits } from "./builder-deposits.ts";
import { BuilderKeychain, builderDeposit } from "./builder-keychain.ts";
import { BuilderPlans } from "./builder-plans.ts";
import { type BidsOfSlot, SlotBids } from "./slot-bids.ts";

interface DevBuildersParts {
  chain: BeaconChain;
  time: Pick<DevTime, "exclusive">;
  /** Builders that the chain was created with. */
  builders: GenesisBuilders | undefined;
  /** Undefined if an execution client builds the payloads. */
  requests: ExecutionRequestSink | undefined;
}

/** The builders of a dev chain: registers them, and controls their bids and payloads. */
export class DevBuilders implements BuilderControl {
  readonly #parts: DevBuildersParts;
  readonly #keys: BuilderKeychain;
  readonly #plans = new BuilderPlans();
  /** Used by the duties of a slot. */
  readonly bids: BidsOfSlot;
  readonly #deposits: BuilderDeposits;

  constructor(parts: DevBuildersParts) {
    this.#parts = parts;
    this.#keys = new BuilderKeychain(parts.builders?.count ?? 0);
    this.#deposits = new BuilderDeposits({ ...parts, keys: this.#keys });
    this.bids = new SlotBids({ chain: parts.chain, keys: this.#keys, plans: this.#plans });
  }

  capture(): () => void {
    const restore = [this.#plans, this.#deposits].map((part) => part.capture());
    return () => {
      for (const each of restore) each();
      this.#parts.chain.executionBids.clear();
    };
  }

  /** Forgets all plans, because another chain takes the place of this one. */
  clear(): void {
    this.#plans.clear();
    this.#deposits.clear();
    this.#parts.chain.executionBids.clear();
  }

  /** Must run before the block of the slot is proposed, in slots whose proposer acts. */
  onSlot(slot: Slot): Promise<void> {
    return this.#deposits.onSlot(slot);
  }

  /** True if a builder withholds payloads from now on, or is not one of the chain's. */
  get mayWithhold(): boolean {
    const { chain, builders } = this.#parts;
    const registered = (chain.headState as Partial<CachedBeaconStateGloas>).builders?.length ?? 0;
    return registered > (builders?.count ?? 0) || this.#plans.withholdSince(chain.clock.currentSlot + 1);
  }

  list(): BuilderInfo[] {
    const state = this.#state();
    return Array.from({ length: state.builders.length }, (_, index) => this.#describe(state, index));
  }

  get(builder: BuilderIndex): BuilderInfo {
    const state = this.#state();
    this.#requireBuilder(state, builder);
    return this.#describe(state, builder);
  }

  bid(builder: BuilderIndex, { value, slots, equivocates }: BidOptions): Promise<AffectedSlots> {
    return this.#plan(builder, slots, (affected) => ({ bid: { ...affected, value: Number(value), equivocates } }));
  }

  withhold(builder: BuilderIndex, slots: Slot): Promise<AffectedSlots> {
    return this.#plan(builder, slots, (withhold) => ({ withhold }));
  }

  topUp(builder: BuilderIndex, amount: bigint): Promise<QueuedRequest> {
    return this.#parts.time.exclusive(async () => {
      const requests = this.#requests();
      const { secretKey, info } = this.#own(builder);
      const { config } = this.#parts.chain;
      const request = builderDeposit(config, secretKey, Number(amount), info.executionAddress);
      await requests.addBuilderDeposit(request);
      const data = ssz.gloas.BuilderDepositRequest.toJson(request);
      return { type: "builder_deposit_request", status: "queued", data };
    });
  }

  /** gloas/beacon-chain.md, process_builder_exit_request. */
  exit(builder: BuilderIndex): Promise<QueuedRequest> {
    return this.#parts.time.exclusive(async () => {
      const requests = this.#requests();
      const { info } = this.#own(builder);
      if (info.status !== "active") {
        throw ControlError.conflict(`Builder ${builder} is ${info.status}. Only active builders can exit.`);
      }
      if (info.pendingPayments > 0) {
        throw ControlError.conflict(
          `Builder ${builder} cannot exit: ${info.pendingPayments} Gwei of its bids are not paid yet. ` +
            "Advance the chain until they are.",
        );
      }
      const request: gloas.BuilderExitRequest = { sourceAddress: info.executionAddress, pubkey: info.pubkey };
      await requests.addBuilderExit(request);
      return { type: "builder_exit_request", status: "queued", data: ssz.gloas.BuilderExitRequest.toJson(request) };
    });
  }

  #plan(
    builder: BuilderIndex,
    count: Slot,
    changes: (slots: AffectedSlots) => Parameters<BuilderPlans["update"]>[1],
  ): Promise<AffectedSlots> {
    return this.#parts.time.exclusive(async () => {
      this.#own(builder);
      const fromSlot = this.#parts.chain.clock.currentSlot + 1;
      const slots = { fromSlot, untilSlot: fromSlot + count };
      this.#plans.update(builder, changes(slots));
      return slots;
    });
  }

  #state(): CachedBeaconStateGloas {
    const { config, headState } = this.#parts.chain;
    const failure = errorBeforeGloas(config, headState.slot, "Builders are registered");
    if (failure) throw new ControlError(failure);
    return headState as CachedBeaconStateGloas;
  }

  #requireBuilder({ builders }: CachedBeaconStateGloas, builder: BuilderIndex): void {
    if (builder < builders.length) return;
    const known =
      builders.length > 0
        ? `The chain has ${builders.length} builder${builders.length === 1 ? "" : "s"}.`
        : this.#parts.builders
          ? "Their deposits are processed at the fork or in the slots after it."
          : "The chain has no builders. Start it with --builders COUNT.";
    throw ControlError.notFound(`There is no builder ${builder}. ${known}`);
  }

  #own(builder: BuilderIndex) {
    const info = this.get(builder);
    const secretKey = this.#keys.secretKey(info.pubkey);
    if (secretKey) return { info, secretKey };
    throw ControlError.unsupported(
      `The key of builder ${builder} is not one of the chain's, so it cannot be controlled.`,
    );
  }

  #requests(): ExecutionRequestSink {
    const { requests } = this.#parts;
    if (requests) return requests;
    throw ControlError.unsupported(
      "An execution client builds the payloads (--el). Send the request to its contract as a transaction (EIP-8282).",
    );
  }

  #describe(state: CachedBeaconStateGloas, index: BuilderIndex): BuilderInfo {
    const builder = state.builders.getReadonly(index);
    const { pubkey, executionAddress, balance, withdrawableEpoch } = builder;
    const pendingPayments = getPendingBalanceToWithdrawForBuilder(state, index);
    return {
      index,
      pubkey,
      executionAddress,
      status: statusOf(state, builder),
      balance,
      pendingPayments,
      maxBid: Math.max(0, balance - pendingPayments - MIN_DEPOSIT_AMOUNT),
      withdrawableEpoch: withdrawableEpoch === FAR_FUTURE_EPOCH ? null : withdrawableEpoch,
      lastBid: this.#plans.of(index).lastBid ?? null,
    };
  }
}

function statusOf(
  state: CachedBeaconStateGloas,
  builder: Pick<gloas.Builder, "withdrawableEpoch"> & Parameters<typeof isActiveBuilder>[0],
): BuilderStatus {
  if (isActiveBuilder(builder, state.finalizedCheckpoint.epoch)) return "active";
  if (builder.withdrawableEpoch === FAR_FUTURE_EPOCH) return "pending";
  return getCurrentEpoch(state) < builder.withdrawableEpoch ? "exiting" : "exited";
}
