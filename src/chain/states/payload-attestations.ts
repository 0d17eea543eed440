import { MAX_PAYLOAD_ATTESTATIONS } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  getIndexedPayloadAttestationSignatureSet,
  type ISignatureSet,
} from "@lodestar/state-transition";
import type { BeaconBlock, BlindedBeaconBlock, gloas } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";

type AnyBlock = BeaconBlock | BlindedBeaconBlock;

/** Returns the payload attestations of a block; none before gloas. */
function payloadAttestationsOf({ body }: AnyBlock): readonly gloas.PayloadAttestation[] {
  return "payloadAttestations" in body ? body.payloadAttestations : [];
}

/** Signature sets of a block's payload attestations, which the library's sets of a block lack. */
export function payloadAttestationSignatureSets(state: CachedBeaconStateAllForks, block: AnyBlock): ISignatureSet[] {
  return payloadAttestationsOf(block).map((attestation) =>
    getIndexedPayloadAttestationSignatureSet(
      state.config,
      state.epochCtx.getIndexedPayloadAttestation(attestation.data.slot, attestation),
    ),
  );
}

/**
 * Runs the transition of a block without its payload attestations, and checks these like process_payload_attestation
 * (gloas/beacon-chain.md), but for their signatures: the library verifies them in every transition, also of blocks whose
 * signatures are verified elsewhere. They change nothing in the state but the body root in the header of the block.
 */
export function withoutPayloadAttestations<Block extends AnyBlock>(
  block: Block,
  transition: (block: Block) => CachedBeaconStateAllForks,
): CachedBeaconStateAllForks {
  if (payloadAttestationsOf(block).length === 0) return transition(block);
  requireValidPayloadAttestations(block);
  const state = transition({ ...block, body: { ...block.body, payloadAttestations: [] } });
  state.latestBlockHeader.bodyRoot = state.config
    .getForkTypes(block.slot)
    .BeaconBlockBody.hashTreeRoot(block.body as gloas.BeaconBlockBody);
  state.commit();
  return state;
}

/** Throws if a payload attestation is invalid for another reason than its signature. */
export function requireValidPayloadAttestations(block: AnyBlock): void {
  const { slot, parentRoot } = block;
  const attestations = payloadAttestationsOf(block);
  if (attestations.length > MAX_PAYLOAD_ATTESTATIONS) {
    throw new Error(`The block has ${attestations.length} payload attestations, at most ${MAX_PAYLOAD_ATTESTATIONS}.`);
  }
  for (const { data, aggregationBits } of attestations) {
    if (!byteArrayEquals(data.beaconBlockRoot, parentRoot)) {
      throw new Error("A payload attestation is to another block than the parent.");
    }
    if (data.slot + 1 !== slot) throw new Error(`A payload attestation is of slot ${data.slot}, expected ${slot - 1}.`);
    if (!aggregationBits.uint8Array.some((byte) => byte !== 0)) {
      throw new Error("A payload attestation has no attesters.");
    }
  }
}
