import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_BEACON_PROPOSER } from "@lodestar/params";
import type { BeaconBlock, SignedBlockContents, Slot, ValidatorIndex } from "@lodestar/types";
import type { ValidatorSigner } from "./signer.ts";
import type { SlashingProtection } from "./slashing-protection.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface ProposeModules {
  api: ValidatorApi;
  config: BeaconConfig;
  signer: ValidatorSigner;
  history: SlashingProtection;
}

/** phase0/validator.md, Block proposal. No graffiti is given: the node's own then applies. */
export async function proposeBlock(
  { api, config, signer, history }: ProposeModules,
  slot: Slot,
  validatorIndex: ValidatorIndex,
): Promise<void> {
  const randaoReveal = signer.randaoReveal(validatorIndex, slot);
  const { data } = await api.validator.produceBlockV3({ slot, randaoReveal });
  const { block, ...sidecars } = data;
  if (!history.mayPropose(validatorIndex, slot)) {
    throw new Error(`Validator ${validatorIndex} has already signed a block for slot ${slot} or a later one.`);
  }
  await history.keep();
  const type = config.getForkTypes(slot).BeaconBlock as Type<BeaconBlock>;
  const signature = signer.sign(validatorIndex, signer.signingRoot(type, block, DOMAIN_BEACON_PROPOSER, slot));
  const signedBlockContents = { signedBlock: { message: block, signature }, ...sidecars } as SignedBlockContents;
  await api.beacon.publishBlockV2({ signedBlockContents });
}
