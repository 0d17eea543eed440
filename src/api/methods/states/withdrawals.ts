import { ForkName, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateCapella, getExpectedWithdrawals as withdrawalsOf } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { invalidParams } from "../../../errors/failure.ts";
import { defineEncoded, get, optional } from "../../definition.ts";
import { latestBlockRoot, metaOf, resolveState } from "../../lookup.ts";
import { STATE_ID } from "../../params/common.ts";
import { slot } from "../../params/scalars.ts";
import { nodeToBuildOn } from "../../payload-of-block.ts";
import { requireForkAt } from "../../preconditions.ts";
import { list, object, shape } from "../../schemas.ts";

/** Each of these epochs costs an epoch transition. */
const MAX_EPOCHS_AHEAD = 2;

const getExpectedWithdrawals = defineEncoded({
  name: "get_v1_builder_states_stateId_expected_withdrawals",
  summary: "Withdrawals that a block on top of a state, since gloas its payload, must include; from capella on.",
  params: {
    stateId: STATE_ID,
    proposalSlot: optional(
      slot,
      `Slot of the block, at most ${MAX_EPOCHS_AHEAD} epochs after the state. Default: the slot after the state.`,
    ),
  },
  result: {
    name: "withdrawals",
    schema: list(
      object({
        index: shape("Uint64"),
        validator_index: shape("Uint64"),
        address: shape("Address"),
        amount: shape("Uint64"),
      }),
    ),
  },
  failures: ["not-found"],
  rest: [get("/eth/v1/builder/states/{state_id}/expected_withdrawals", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  since: ForkName.capella,
  example: { params: (chain) => ["head", String(chain.slot + 1)] },
  codec: ({ beacon }) => ({ data: ssz.capella.Withdrawals, meta: beacon.getStateRoot.resp.meta }),
  async handler({ chain }, { stateId, proposalSlot: givenSlot }, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { state } = resolved;
    const proposalSlot = givenSlot ?? state.slot + 1;
    if (proposalSlot <= state.slot) {
      throw invalidParams(`A block of slot ${proposalSlot} cannot follow a state of slot ${state.slot}.`);
    }
    if (proposalSlot > state.slot + MAX_EPOCHS_AHEAD * SLOTS_PER_EPOCH) {
      throw invalidParams(
        `Slot ${proposalSlot} is more than ${MAX_EPOCHS_AHEAD} epochs after the state of slot ${state.slot}.`,
      );
    }
    requireForkAt(chain.config, ForkName.capella, proposalSlot, "Withdrawals");
    const root = latestBlockRoot(state);
    const preState = await chain.states.afterBlock(root, proposalSlot, { keep: false, waiting: call });
    const forkSeq = chain.config.getForkSeq(proposalSlot);
    if (forkSeq >= ForkSeq.gloas) {
      const parent = await nodeToBuildOn(chain, root, proposalSlot);
      return { data: await chain.parentPayloads.withdrawalsOn(preState, parent), meta: metaOf(resolved) };
    }
    const { expectedWithdrawals } = withdrawalsOf(forkSeq, preState as CachedBeaconStateCapella);
    return { data: expectedWithdrawals, meta: metaOf(resolved) };
  },
});

export const withdrawalMethods = [getExpectedWithdrawals] as const;
