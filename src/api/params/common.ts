import { routes } from "@lodestar/api";
import { optional, required } from "../definition.ts";
import { blockId, stateId, validatorId } from "./identifiers.ts";
import { stringEnum, uniqueArrayOf } from "./scalars.ts";

export const STATE_ID = required(stateId, "State id: head, genesis, finalized, justified, a slot or a state root.");

export const BLOCK_ID = required(blockId, "Block id: head, genesis, finalized, a slot or a block root.");

/** Validators in a request body. */
export const VALIDATOR_IDS = optional(
  uniqueArrayOf(validatorId, { noun: "validator ids", isBody: true }),
  "Validators by index or public key. Default: all.",
);

const { gossip, consensus, consensusAndEquivocation } = routes.beacon.BroadcastValidation;

/** Validation required before a broadcast. */
export const broadcastValidation = stringEnum([gossip, consensus, consensusAndEquivocation]);
