import type { Type } from "@chainsafe/ssz";
import { isForkPostBellatrix } from "@lodestar/params";
import { type SignedBlindedBeaconBlock, ssz } from "@lodestar/types";
import { readSszJson } from "./ssz-json.ts";
import { slotAt, sszPayload } from "./ssz-payload.ts";

/** Before Bellatrix a block has no payload to leave out, so that its blinded form is the block itself. */
export const signedBlindedBlock = sszPayload<SignedBlindedBeaconBlock>("a signed blinded block", (json, config) => {
  const fork = config.getForkName(slotAt(json, ["message", "slot"]));
  const type = isForkPostBellatrix(fork) ? ssz[fork].SignedBlindedBeaconBlock : ssz[fork].SignedBeaconBlock;
  return readSszJson(type as unknown as Type<SignedBlindedBeaconBlock>, json);
});
