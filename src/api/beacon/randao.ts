import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { EPOCHS_PER_HISTORICAL_VECTOR } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { invalidParams } from "../../failure.ts";
import type { ChainView } from "../chain-view.ts";
import { resolveState } from "../identifiers.ts";
import { shown } from "../validator/shown-number.ts";
import { metaOf } from "./states.ts";

export type RandaoApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "getStateRandao">;

export function createRandaoApi(chain: ChainView): RandaoApi {
  return {
    async getStateRandao({ stateId, epoch: givenEpoch }) {
      const resolved = await resolveState(chain, stateId);
      const { state } = resolved;
      const stateEpoch = computeEpochAtSlot(state.slot);
      const epoch = givenEpoch ?? stateEpoch;
      // The places of the vector are used again after a full round (phase0/beacon-chain.md, get_randao_mix).
      if (epoch > stateEpoch || epoch + EPOCHS_PER_HISTORICAL_VECTOR <= stateEpoch) {
        throw invalidParams(
          `A state of epoch ${stateEpoch} does not hold the RANDAO mix of epoch ${shown(epoch)}, but those of its own ` +
            `epoch and of up to ${EPOCHS_PER_HISTORICAL_VECTOR - 1} epochs before it.`,
        );
      }
      return {
        data: { randao: state.randaoMixes.get(epoch % EPOCHS_PER_HISTORICAL_VECTOR) },
        meta: metaOf(resolved),
      };
    },
  };
}
