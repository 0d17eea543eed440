import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_BEACON_PROPOSER } from "@lodestar/params";
import { createIndexedSignatureSetFromComponents } from "@lodestar/state-transition";
import { type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";

/**
 * Returns the first block that was not signed by the validator at its proposer index. Does not check proposer duties.
 * Validators are never removed, so current keys also verify old blocks.
 */
export async function findInvalidSignature<Block extends { signed: SignedBeaconBlock; root: RootHex }>(
  blocks: readonly Block[],
  { config, bls }: { config: BeaconConfig; bls: Pick<BlsVerifier, "verifyEach"> },
): Promise<Block | undefined> {
  const sets = blocks.map(({ signed: { message, signature }, root }) => {
    const domain = config.getDomain(message.slot, DOMAIN_BEACON_PROPOSER, message.slot);
    const signingRoot = ssz.phase0.SigningData.hashTreeRoot({ objectRoot: fromHex(root), domain });
    return createIndexedSignatureSetFromComponents(message.proposerIndex, signingRoot, signature);
  });
  const verdicts = await bls.verifyEach(sets);
  return blocks.find((_, index) => !verdicts[index]);
}
