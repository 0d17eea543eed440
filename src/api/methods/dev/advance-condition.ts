import { ForkSeq } from "@lodestar/params";
import type { CachedBeaconStateElectra, CachedBeaconStateGloas } from "@lodestar/state-transition";
import { getValidatorStatus } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { type Failure, notFound, rejected } from "../../../errors/failure.ts";
import type { DevControl } from "../../dev-control.ts";
import { errorBeforeGloas } from "../../payload-control.ts";
import { indexInRegistry } from "../states/registry.ts";
import type { Goal, ValidatorGoal } from "./advance-goal.ts";
import { locateStatus, type PathPosition, statusesAfter } from "./status-path.ts";

/** A condition that ends a `dev_advance` call. */
export interface Condition {
  /** Throws if the condition can no longer be met. */
  holds(): boolean;
  /** Returns the end of a sentence that describes the current situation. */
  actual(): string;
}

/** Number of epochs after which the deposit for a public key is considered lost. */
const MAX_ABSENT_EPOCHS = 32;

/** Throws if the condition can never be met. */
export function conditionOf(chain: BeaconChain, goal: Goal, { payloads }: Pick<DevControl, "payloads">): Condition {
  const { clock } = chain;
  if (goal === "block") {
    return newerThan(
      () => chain.head.slot,
      (slot) => `the head is still the block of slot ${slot}`,
    );
  }
  if (goal === "builder_paid") return new BuilderPayment(chain);
  if (goal === "payload") return new NewPayloadStatus(chain, "full");
  if (goal === "empty") {
    const condition = new NewPayloadStatus(chain, "empty");
    if (payloads.mayLeaveBlocksEmpty()) return condition;
    throw rejected(
      "No block will be empty: all payloads will be revealed in time, and voted for. " +
        "Schedule a fault first, such as dev_withholdPayloads.",
    );
  }
  if (goal === "finalized" || goal === "justified") {
    return newerThan(
      () => chain[`${goal}Checkpoint`].epoch,
      (epoch) => `the ${goal} epoch is still ${epoch}`,
    );
  }
  if ("slot" in goal) return reached("slot", () => clock.currentSlot, goal.slot);
  if ("epoch" in goal) return reached("epoch", () => clock.currentEpoch, goal.epoch);
  if ("finalized" in goal) return reached("finalized epoch", () => chain.finalizedCheckpoint.epoch, goal.finalized);
  const { validator } = goal;
  return typeof validator === "string"
    ? new StatusOfKey(chain, validator, goal.status)
    : statusOfIndex(chain, validator, goal.status);
}

/** Waits for a new block with its payload on the chain, or without. */
class NewPayloadStatus implements Condition {
  readonly #chain: BeaconChain;
  readonly #target: "full" | "empty";
  readonly #slotBefore: number;

  constructor(chain: BeaconChain, target: "full" | "empty") {
    this.#chain = chain;
    this.#target = target;
    this.#slotBefore = chain.head.slot;
    const failure = errorBeforeGloas(chain.config, chain.clock.currentSlot);
    if (failure && !Number.isFinite(chain.config.GLOAS_FORK_EPOCH)) throw failure;
  }

  /** The head can change its status. Then its child, the next head, determines it. */
  holds(): boolean {
    const { head, headNode, forkChoice } = this.#chain;
    if (this.#isNew(head) && headNode.payloadStatus === this.#target) return true;
    const parent = forkChoice.get(head.parentRoot);
    return parent !== undefined && this.#isNew(parent) && forkChoice.parentPayloadStatus(head.root) === this.#target;
  }

  actual(): string {
    const { head } = this.#chain;
    const untilGloas = describeForkBeforeGloas(this.#chain);
    if (untilGloas !== undefined) return untilGloas;
    if (head.slot === this.#slotBefore) return `there is no block after slot ${this.#slotBefore}`;
    return this.#target === "full"
      ? `no block after slot ${this.#slotBefore} has its payload`
      : `all blocks after slot ${this.#slotBefore} have their payloads`;
  }

  #isNew({ slot, bid }: BeaconChain["head"]): boolean {
    return slot > this.#slotBefore && bid !== undefined;
  }
}

/** Waits until the payment of a bid is withdrawn from the balance of its builder. */
class BuilderPayment implements Condition {
  readonly #chain: BeaconChain;
  #checked: { root: string; balances: number[] } | undefined;
  #isPaid = false;

  constructor(chain: BeaconChain) {
    this.#chain = chain;
    const failure = errorBeforeGloas(chain.config, chain.clock.currentSlot, "Builders are paid");
    if (failure && !Number.isFinite(chain.config.GLOAS_FORK_EPOCH)) throw failure;
    this.holds();
  }

  holds(): boolean {
    const { config, head, headState } = this.#chain;
    if (this.#isPaid) return true;
    if (config.getForkSeq(headState.slot) < ForkSeq.gloas || this.#checked?.root === head.root) return false;
    const before = this.#checked;
    const { builders } = headState as CachedBeaconStateGloas;
    const balances = Array.from({ length: builders.length }, (_, index) => builders.getReadonly(index).balance);
    this.#checked = { root: head.root, balances };
    // A builder that exited is paid its whole balance, which leaves none.
    this.#isPaid =
      before?.balances.some((balance, index) => balances[index]! > 0 && balances[index]! < balance) ?? false;
    return this.#isPaid;
  }

  actual(): string {
    return describeForkBeforeGloas(this.#chain) ?? "no builder has paid for a bid";
  }
}

function describeForkBeforeGloas({ config, clock }: BeaconChain): string | undefined {
  if (config.getForkSeq(clock.currentSlot) >= ForkSeq.gloas) return undefined;
  return `the chain is ${config.getForkName(clock.currentSlot)} until epoch ${config.GLOAS_FORK_EPOCH}`;
}

function newerThan(read: () => number, describe: (value: number) => string): Condition {
  const before = read();
  return { holds: () => read() > before, actual: () => describe(before) };
}

function reached(noun: string, read: () => number, target: number): Condition {
  return { holds: () => read() >= target, actual: () => `the ${noun} is ${read()}, not ${target}` };
}

function positionAt({ headState }: BeaconChain, index: number): PathPosition {
  const validator = headState.validators.getReadonly(index);
  return { status: getValidatorStatus(validator, headState.epochCtx.epoch), isSlashed: validator.slashed };
}

function statusOfIndex(chain: BeaconChain, index: number, target: ValidatorGoal["status"]): Condition {
  const { length } = chain.headState.validators;
  if (index >= length) {
    throw notFound(
      `No validator ${index}: the registry has ${length} validators. Until its deposit is processed, use its public key.`,
    );
  }
  requireNotPassed(chain, index, target);
  return {
    holds: () => hasReached(chain, index, target),
    actual: () => `validator ${index} is ${positionAt(chain, index).status}, not ${target}`,
  };
}

/** Throws if the validator has already passed the status. Statuses passed while a condition waits count as reached. */
function requireNotPassed(chain: BeaconChain, index: number, target: ValidatorGoal["status"]): void {
  const position = positionAt(chain, index);
  if (locateStatus(position, target) === "passed") throw outOfReach(index, position, target);
}

/**
 * Returns true even for a later status, because a validator may pass several statuses in one slot. Throws if the status
 * can no longer be reached.
 */
function hasReached(chain: BeaconChain, index: number, target: ValidatorGoal["status"]): boolean {
  const position = positionAt(chain, index);
  const location = locateStatus(position, target);
  if (location === "unreachable") throw outOfReach(index, position, target);
  return location !== "ahead";
}

function outOfReach(index: number, position: PathPosition, target: ValidatorGoal["status"]): Failure {
  const following = statusesAfter(position);
  const next = following.length === 0 ? "This is its last status." : `Its next statuses are ${following.join(", ")}.`;
  return rejected(`Validator ${index} is ${position.status} and can no longer become ${target}. ${next}`);
}

/**
 * Waits for a validator, identified by its public key, to reach a status. The validator may not have been deposited
 * yet.
 */
class StatusOfKey implements Condition {
  readonly #chain: BeaconChain;
  readonly #pubkey: string;
  readonly #target: ValidatorGoal["status"];
  /** The last epoch in which the pending deposits were searched. */
  #searchedEpoch = -1;
  #wasPending = false;
  #absentSince: number | undefined;

  constructor(chain: BeaconChain, pubkey: string, target: ValidatorGoal["status"]) {
    this.#chain = chain;
    this.#pubkey = pubkey;
    this.#target = target;
    const index = indexInRegistry(chain.headState, pubkey);
    if (index !== undefined) requireNotPassed(chain, index, target);
  }

  holds(): boolean {
    const index = indexInRegistry(this.#chain.headState, this.#pubkey);
    if (index !== undefined) return hasReached(this.#chain, index, this.#target);
    this.#requireDeposit();
    return false;
  }

  actual(): string {
    const { headState } = this.#chain;
    const index = indexInRegistry(headState, this.#pubkey);
    if (index !== undefined)
      return `validator ${index} is ${positionAt(this.#chain, index).status}, not ${this.#target}`;
    const absent = `${this.#pubkey} is not in the registry`;
    // Before electra, deposits remain on the execution chain until validators have voted for them.
    if (!hasPendingDeposits(headState)) return absent;
    return isPending(headState, this.#pubkey)
      ? `${absent} yet: its deposit is pending`
      : `${absent}, and no deposit of it is pending`;
  }

  /**
   * Throws if the deposit for the key was dropped or has been missing for `MAX_ABSENT_EPOCHS`. Searches once per epoch.
   */
  #requireDeposit(): void {
    const { headState } = this.#chain;
    const { epoch } = headState.epochCtx;
    if (!hasPendingDeposits(headState) || epoch === this.#searchedEpoch) return;
    this.#searchedEpoch = epoch;
    if (isPending(headState, this.#pubkey)) {
      this.#wasPending = true;
      return;
    }
    if (this.#wasPending) {
      throw notFound(
        `The deposit of ${this.#pubkey} was dropped: its signature is invalid. It must be over the same public key, ` +
          "withdrawal credentials and amount as the deposit.",
      );
    }
    this.#absentSince ??= epoch;
    if (epoch - this.#absentSince < MAX_ABSENT_EPOCHS) return;
    throw notFound(
      `${this.#pubkey} has been neither in the registry nor among the pending deposits for ${MAX_ABSENT_EPOCHS} ` +
        "epochs. Check that its deposit was sent and succeeded, with at least 1 ETH, and that its signature is over the " +
        "same withdrawal credentials: a deposit with an invalid signature is dropped.",
    );
  }
}

type HeadState = BeaconChain["headState"];

/**
 * Returns true if the state contains all deposits that have not been applied yet, which it does from electra on, unless
 * eth1 votes may still add some.
 */
function hasPendingDeposits({ config, slot }: HeadState): boolean {
  const fork = config.getForkSeq(slot);
  return fork >= ForkSeq.fulu || (fork === ForkSeq.electra && config.ELECTRA_FORK_EPOCH === 0);
}

function isPending(state: HeadState, pubkey: string): boolean {
  const key = fromHex(pubkey);
  const pending = (state as CachedBeaconStateElectra).pendingDeposits.getAllReadonly();
  return pending.some((deposit) => Buffer.compare(deposit.pubkey, key) === 0);
}
