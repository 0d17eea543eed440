import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { BLSSignature, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import type { Clock } from "../clock/clock.ts";
import type { Graffiti } from "../graffiti.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** What only the proposer and the head decide about a block; the rest comes from the pools. */
export interface BlockRequest {
  slot: Slot;
  parentRoot: RootHex;
  randaoReveal: BLSSignature;
  graffiti: Uint8Array;
  feeRecipient: Uint8Array;
  /** Whether no randao reveal shows that the proposer asks. */
  isAnonymous?: boolean;
}

interface NodeChoices {
  config: Pick<BeaconConfig, "getForkSeq">;
  graffiti: Graffiti;
  preparations: ProposerPreparations;
  clock: Clock;
}

/** A request with what the node chooses where the proposer does not. */
export function blockRequest(
  { config, graffiti, preparations, clock }: NodeChoices,
  proposer: ValidatorIndex,
  asked: Omit<BlockRequest, "graffiti" | "feeRecipient"> & Partial<BlockRequest>,
): BlockRequest {
  // A block without a payload, or one that its proposer did not ask for, is nothing to warn of.
  const warns = !asked.isAnonymous && config.getForkSeq(asked.slot) >= ForkSeq.bellatrix;
  return {
    slot: asked.slot,
    parentRoot: asked.parentRoot,
    randaoReveal: asked.randaoReveal,
    graffiti: asked.graffiti ?? graffiti.get(),
    isAnonymous: asked.isAnonymous,
    feeRecipient: asked.feeRecipient ?? preparations.feeRecipientOrDefault(proposer, clock.currentEpoch, { warns }),
  };
}
