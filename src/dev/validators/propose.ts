import type { Type } from "@chainsafe/ssz";
import { HttpStatusCode } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_BEACON_PROPOSER, ForkSeq } from "@lodestar/params";
import type {
  BeaconBlock,
  BlindedBeaconBlock,
  SignedBlindedBeaconBlock,
  SignedBlockContents,
  Slot,
  ValidatorIndex,
} from "@lodestar/types";
import type { ValidatorSigner } from "./signer.ts";
import type { SlashingProtection } from "./slashing-protection.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface ProposeModules {
  api: ValidatorApi;
  config: BeaconConfig;
  signer: ValidatorSigner;
  history: SlashingProtection;
}

/** Publishes a block. Returns true if the block was imported, or accepted by a builder that will publish it. */
export type PublishBlock = () => Promise<boolean>;

/** Requests and signs a block (phase0/validator.md, Block proposal). Uses the node's graffiti. */
export async function signBlock(
  { api, config, signer, history }: ProposeModules,
  slot: Slot,
  validatorIndex: ValidatorIndex,
): Promise<PublishBlock> {
  const randaoReveal = signer.randaoReveal(validatorIndex, slot);
  const { data } = await api.validator.produceBlockV3({ slot, randaoReveal });
  history.recordProposal(validatorIndex, slot);
  await history.flush();
  const sign = <Block>(type: Type<Block>, message: Block) => {
    const signingRoot = signer.signingRoot(type, message, DOMAIN_BEACON_PROPOSER, slot);
    return { message, signature: signer.sign(validatorIndex, signingRoot) };
  };
  if ("block" in data) {
    const { block, ...sidecars } = data;
    const signedBlock = sign(config.getForkTypes(slot).BeaconBlock as Type<BeaconBlock>, block);
    const signedBlockContents = { signedBlock, ...sidecars } as SignedBlockContents;
    return async () => {
      const { status } = await api.beacon.publishBlockV2({ signedBlockContents });
      return status === HttpStatusCode.OK;
    };
  }
  const type = config.getPostBellatrixForkTypes(slot).BlindedBeaconBlock as Type<BlindedBeaconBlock>;
  const signedBlindedBlock = sign(type, data) as SignedBlindedBeaconBlock;
  return async () => {
    const { status } = await api.beacon.publishBlindedBlockV2({ signedBlindedBlock });
    return status === HttpStatusCode.OK || config.getForkSeq(slot) >= ForkSeq.fulu;
  };
}
