import { ForkName, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import { type CachedBeaconStateGloas, getPendingBalanceToWithdrawForBuilder } from "@lodestar/state-transition";
import { type BuilderIndex, type Slot, ssz } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { preferencesFor } from "../../../chain/production/proposer-preferences.ts";
import { payloadBid } from "../../../chain/production/self-build.ts";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import { defineEncoded, get, required } from "../../definition.ts";
import { slot, uint64 } from "../../params/scalars.ts";
import { requireForkAt, requireSynced, requireVerifiedHead } from "../../preconditions.ts";
import { shape } from "../../schemas.ts";

const WEI_PER_GWEI = 10n ** 9n;

const getExecutionPayloadBid = defineEncoded({
  name: "get_v1_validator_execution_payload_bids_slot_builderIndex",
  summary:
    "A bid of a builder for a payload that this node builds, to sign. It offers the value of the payload, as far as the " +
    "builder can pay it.",
  params: {
    slot: required(slot, "The current or the next slot."),
    builderIndex: required(uint64, "Index of an active builder."),
  },
  result: { name: "bid", schema: shape("ExecutionPayloadBid") },
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v1/validator/execution_payload_bids/{slot}/{builder_index}", { ssz: "response" })],
  cost: "duty",
  access: "read",
  since: ForkName.gloas,
  example: { stage: "aggregate", params: (chain) => [String(chain.slot + 1), "0"] },
  codec: ({ validator }) => ({
    data: ssz.gloas.ExecutionPayloadBid,
    meta: validator.getAggregatedAttestationV2.resp.meta,
  }),
  async handler({ chain }, { slot, builderIndex }) {
    const { config, clock } = chain;
    requireSynced(chain);
    if (slot < clock.currentSlot || slot > clock.currentSlot + 1) {
      throw invalidParams(`Builders bid for the current slot ${clock.currentSlot} and the next one, not for ${slot}.`);
    }
    requireForkAt(config, ForkName.gloas, slot, "Execution payload bids");
    await requireVerifiedHead(chain);
    return { data: await buildBid(chain, slot, builderIndex), meta: { version: config.getForkName(slot) } };
  },
});

export const executionBidMethods = [getExecutionPayloadBid] as const;

async function buildBid(chain: BeaconChain, slot: Slot, builderIndex: BuilderIndex) {
  const { head, states, producer, preparations, clock, proposerHead } = chain;
  if (slot <= head.slot) throw notFound(`Slot ${slot} has a block already, so it takes no bids.`);
  const { root: parentRoot, payloadStatus } = proposerHead.parentFor(slot);
  const state = (await states.afterBlock(parentRoot, slot)) as CachedBeaconStateGloas;
  if (builderIndex >= state.builders.length) {
    throw invalidParams(`There is no builder ${builderIndex}: the registry has ${state.builders.length}.`);
  }
  const proposer = state.epochCtx.getBeaconProposer(slot);
  const preferences = preferencesFor(chain, { slot, parentRoot });
  const feeRecipient = preferences?.feeRecipient ?? preparations.feeRecipient(proposer, clock.currentEpoch);
  if (!feeRecipient) {
    throw notFound(`The preferences of validator ${proposer}, who proposes in slot ${slot}, are unknown.`);
  }
  const offered = await producer.buildToOffer({
    slot,
    parentRoot,
    parentPayload: payloadStatus === "full" ? "full" : "empty",
    // The priority fees go to the builder, which pays the proposer by its bid.
    feeRecipient: state.builders.getReadonly(builderIndex).executionAddress,
    targetGasLimit: preferences && Number(preferences.targetGasLimit),
    randaoReveal: ssz.BLSSignature.defaultValue(),
    graffiti: ssz.Bytes32.defaultValue(),
  });
  const value = Math.min(Number(offered.built.value / WEI_PER_GWEI), affordable(state, builderIndex));
  return payloadBid(offered.preState, { slot, parentRoot, builderIndex, value, feeRecipient }, offered.built);
}

/** Returns the highest bid that a builder can cover (gloas/beacon-chain.md, can_builder_cover_bid). */
function affordable(state: CachedBeaconStateGloas, builderIndex: BuilderIndex): number {
  const { balance } = state.builders.getReadonly(builderIndex);
  return Math.max(0, balance - MIN_DEPOSIT_AMOUNT - getPendingBalanceToWithdrawForBuilder(state, builderIndex));
}
