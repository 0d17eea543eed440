import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { Epoch, ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { lastRootBefore } from "../../../chain/shuffling/dependent-root.ts";
import { invalidParams } from "../../../errors/failure.ts";
import { defineOperation, get, post, required } from "../../definition.ts";
import { NO_CONTENT } from "../../no-content.ts";
import { validatorIndices } from "../../params/identifiers.ts";
import { epoch, slot } from "../../params/scalars.ts";
import { requireForkAt, requireSynced } from "../../preconditions.ts";
import { either, list, nothing, shape } from "../../schemas.ts";
import { requireKnownEpoch, stateForDuties } from "./duty-state.ts";

const COMMITTEES = "Payload timeliness committees";

const getPtcDuties = defineOperation("validator.getPtcDuties", {
  name: "post_v1_validator_duties_ptc_epoch",
  aliases: ["post_v1_validator_duties_ptc"],
  summary: "Slots in which validators are in the payload timeliness committee.",
  params: {
    epoch: required(epoch, "Epoch of the duties, at most one after the current epoch."),
    indices: required(validatorIndices, "Validator indices.", { name: "validator_indices" }),
  },
  result: { name: "duties", schema: list(shape("PtcDuty")) },
  failures: ["not-found", "unavailable"],
  rest: [post("/eth/v1/validator/duties/ptc/{epoch}")],
  cost: "duty",
  access: "read",
  since: ForkName.gloas,
  example: { params: (chain) => [String(chain.epoch), ["3", "4"]] },
  async handler({ chain }, { epoch, indices }) {
    requireSynced(chain);
    requireKnownEpoch(chain, epoch);
    requireForkAt(chain.config, ForkName.gloas, computeStartSlotAtEpoch(epoch), COMMITTEES);
    const state = await stateForCommittees(chain, epoch);
    return {
      data: [...dutiesIn(state, epoch, new Set(indices))],
      meta: { dependentRoot: lastRootBefore(epoch - 1, state), executionOptimistic: chain.status.isOptimistic },
    };
  },
});

const producePayloadAttestationData = defineOperation("validator.producePayloadAttestationData", {
  name: "get_v1_validator_payload_attestation_data",
  summary:
    "Whether the payload and the blobs of a slot's block have arrived, for members of the committee to sign. Null if " +
    "there is no block, in which case they do not vote.",
  params: { slot: required(slot, "The current or the previous slot.") },
  result: { name: "payload_attestation_data", schema: either(shape("PayloadAttestationData"), nothing) },
  failures: ["unavailable"],
  rest: [get("/eth/v1/validator/payload_attestation_data", { ssz: "response" })],
  cost: "duty",
  access: "read",
  since: ForkName.gloas,
  mayBeEmpty: true,
  example: { params: (chain) => [String(chain.slot - 1)] },
  async handler({ chain }, { slot }) {
    const { config, clock, blocks } = chain;
    requireSynced(chain);
    if (slot > clock.currentSlot || slot < clock.currentSlot - 1) {
      throw invalidParams(
        `Payloads are attested to in the slot of their block: slot ${slot} is not the current slot ` +
          `${clock.currentSlot}, nor the one before.`,
      );
    }
    requireForkAt(config, ForkName.gloas, slot, "Payload attestations");
    const atSlot = await blocks.atSlot(slot);
    const block = atSlot.find(({ canonical }) => canonical) ?? atSlot[0];
    if (!block) return NO_CONTENT;
    const data = { slot, beaconBlockRoot: fromHex(block.root), ...chain.payloadAttestationVote(block) };
    return { data, meta: { version: config.getForkName(slot) } };
  },
});

export const payloadAttestationMethods = [getPtcDuties, producePayloadAttestationData] as const;

/** Before gloas, states do not have the committees of the first epochs of gloas. */
async function stateForCommittees(chain: BeaconChain, epoch: Epoch): Promise<CachedBeaconStateGloas> {
  const state = await stateForDuties(chain, epoch);
  if ("ptcWindow" in state) return state as CachedBeaconStateGloas;
  return (await chain.states.afterBlock(chain.head.root, computeStartSlotAtEpoch(epoch))) as CachedBeaconStateGloas;
}

/** Yields the duties in the order of slots. A validator can have several seats in the committee of its slot. */
function* dutiesIn(
  { epochCtx, validators }: CachedBeaconStateAllForks,
  epoch: Epoch,
  indices: ReadonlySet<ValidatorIndex>,
) {
  const firstSlot = computeStartSlotAtEpoch(epoch);
  for (let slot = firstSlot; slot < firstSlot + SLOTS_PER_EPOCH; slot++) {
    for (const validatorIndex of new Set(epochCtx.getPayloadTimelinessCommittee(slot))) {
      if (!indices.has(validatorIndex)) continue;
      yield { pubkey: validators.getReadonly(validatorIndex).pubkey, validatorIndex, slot };
    }
  }
}
