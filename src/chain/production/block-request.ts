import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { BLSSignature, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import type { BuiltPayload } from "../../execution/engine.ts";
import type { Clock } from "../clock/clock.ts";
import type { Graffiti } from "./graffiti.ts";
import { type PreferencesSource, preferencesFor } from "./proposer-preferences.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** Inputs for a block that depend on the proposer and the head. All other inputs come from the pools. */
export interface BlockRequest {
  slot: Slot;
  parentRoot: RootHex;
  /**
   * Since gloas: whether to build on the payload of the parent. Default: as should_build_on_full says for the parent's
   * preferred variant.
   */
  parentPayload?: "empty" | "full";
  randaoReveal: BLSSignature;
  graffiti: Uint8Array;
  feeRecipient: Uint8Array;
  /** Since gloas: gas limit that the proposer aims for. Default: that of the parent's payload. */
  targetGasLimit?: number | undefined;
  /** True if the proposer is not authenticated by a valid RANDAO reveal. */
  isAnonymous?: boolean;
  /** Since gloas: changes the built payload before a bid commits to it. Only dev chains do that. */
  alterPayload?: ((built: BuiltPayload) => BuiltPayload) | undefined;
}

interface NodeChoices extends PreferencesSource {
  config: Pick<BeaconConfig, "getForkSeq">;
  graffiti: Graffiti;
  preparations: ProposerPreparations;
  clock: Clock;
}

/** Applies the proposer's preferences and the node's defaults. */
export function blockRequest(
  choices: NodeChoices,
  proposer: ValidatorIndex,
  requested: Omit<BlockRequest, "graffiti" | "feeRecipient"> & Partial<BlockRequest>,
): BlockRequest {
  const { config, graffiti, preparations, clock } = choices;
  const preferences = preferencesFor(choices, requested);
  // Do not warn about a block without a payload, or about a block that its proposer did not request.
  const warns = !requested.isAnonymous && config.getForkSeq(requested.slot) >= ForkSeq.bellatrix;
  return {
    slot: requested.slot,
    parentRoot: requested.parentRoot,
    parentPayload: requested.parentPayload,
    randaoReveal: requested.randaoReveal,
    graffiti: requested.graffiti ?? graffiti.get(),
    isAnonymous: requested.isAnonymous,
    alterPayload: requested.alterPayload,
    feeRecipient:
      requested.feeRecipient ??
      preferences?.feeRecipient ??
      preparations.feeRecipientOrDefault(proposer, clock.currentEpoch, { warns }),
    targetGasLimit: preferences && Number(preferences.targetGasLimit),
  };
}
