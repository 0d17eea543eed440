import { routes } from "@lodestar/api";
import { optional, required } from "../definition.ts";
import { blockId, stateId, validatorId } from "./identifiers.ts";
import { arrayOf, word } from "./scalars.ts";

export const STATE_ID = required(stateId, "Which state: head, genesis, finalized, justified, a slot or a state root.");

export const BLOCK_ID = required(blockId, "Which block: head, genesis, finalized, a slot or a block root.");

/** Validators in the body of a request, of which there may be as many as one likes. */
export const VALIDATOR_IDS = optional(
  arrayOf(validatorId, { noun: "validator ids", isBody: true }),
  "Only these validators, each by index or public key; by default all.",
);

const { gossip, consensus, consensusAndEquivocation } = routes.beacon.BroadcastValidation;

/** The rules that something must pass before it is broadcast. */
export const broadcastValidation = word([gossip, consensus, consensusAndEquivocation]);
