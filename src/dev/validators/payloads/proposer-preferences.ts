import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateFulu,
  type CachedBeaconStateGloas,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getProposerPreferencesSigningRoot,
} from "@lodestar/state-transition";
import type { Epoch, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { type DutyPlan, isOnline } from "../duty-plan.ts";
import type { ValidatorSigner } from "../signer.ts";

interface ProposerPreferencesParts {
  chain: BeaconChain;
  signer: ValidatorSigner;
}

/**
 * Publishes the preferences of our proposers of the next epoch, so that builders on other nodes can bid
 * (gloas/validator.md, SignedProposerPreferences). Begins in the epoch before the fork.
 */
export class DevProposerPreferences {
  readonly #parts: ProposerPreferencesParts;
  #published: { epoch: Epoch; dependentRoot: string } | null = null;

  constructor(parts: ProposerPreferencesParts) {
    this.#parts = parts;
  }

  /** Publishes preferences that have not been published for the branch of the head. */
  async update(slot: Slot, plan: DutyPlan): Promise<void> {
    const { chain } = this.#parts;
    const { config, events, forkChoice, head, headState } = chain;
    const epoch = computeEpochAtSlot(slot);
    const isDue = config.getForkSeqAtEpoch(epoch + 1) >= ForkSeq.gloas && computeEpochAtSlot(headState.slot) === epoch;
    if (!isDue || !events.hasListeners("proposerPreferencesCreated")) return;
    const dependentRoot = forkChoice.ancestorAtSlot(head.root, computeStartSlotAtEpoch(epoch) - 1);
    if (dependentRoot === undefined) return;
    if (this.#published?.epoch === epoch && this.#published.dependentRoot === dependentRoot) return;
    this.#published = { epoch, dependentRoot };
    for (let index = 0; index < SLOTS_PER_EPOCH; index++) await this.#publish(index, dependentRoot, plan);
  }

  clear(): void {
    this.#published = null;
  }

  /** @param index position of the proposal in the next epoch */
  async #publish(index: number, dependentRoot: string, plan: DutyPlan): Promise<void> {
    const { chain, signer } = this.#parts;
    const { config, headState, preparations, clock, events } = chain;
    const validatorIndex = (headState as CachedBeaconStateFulu).proposerLookahead.getAll()[SLOTS_PER_EPOCH + index];
    if (validatorIndex === undefined || !signer.owns(validatorIndex) || !isOnline(plan, validatorIndex)) return;
    const message = {
      dependentRoot: fromHex(dependentRoot),
      proposalSlot: computeStartSlotAtEpoch(computeEpochAtSlot(headState.slot) + 1) + index,
      validatorIndex,
      feeRecipient: preparations.feeRecipientOrDefault(validatorIndex, clock.currentEpoch, { warns: false }),
      targetGasLimit: this.#gasLimit(),
    };
    const signature = signer.sign(validatorIndex, getProposerPreferencesSigningRoot(config, message));
    const signed = { message, signature };
    await chain.processor.proposerPreferences(signed);
    events.publish("proposerPreferencesCreated", { signed });
  }

  /** Gas limit of the head's payload, which is kept. */
  #gasLimit(): bigint {
    const { headState } = this.#parts.chain;
    const { latestExecutionPayloadBid: bid } = headState as CachedBeaconStateGloas;
    return bid ? bid.gasLimit : BigInt((headState as CachedBeaconStateFulu).latestExecutionPayloadHeader.gasLimit);
  }
}
