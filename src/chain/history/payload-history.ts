import { PublicKey } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import { BUILDER_INDEX_SELF_BUILD } from "@lodestar/params";
import {
  createIndexedSignatureSetFromComponents,
  createSingleSignatureSetFromComponents,
  getExecutionPayloadEnvelopeSigningRoot,
  type ISignatureSet,
} from "@lodestar/state-transition";
import { type gloas, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { bidOf } from "../blocks/bid.ts";

interface PayloadHistoryParts {
  config: BeaconConfig;
  bls: Pick<BlsVerifier, "verifyEach">;
  /** Returns the key of a builder in the head's registry. */
  builderPubkey(index: number): Uint8Array | undefined;
}

interface HistoricalBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
}

/**
 * Selects the genuine payloads of authenticated blocks, by block root: they have the hash and the requests of the bid,
 * and are signed by its builder. Leaves out those of builders whose place in the registry was taken by another one.
 */
export async function genuinePayloads(
  { config, bls, builderPubkey }: PayloadHistoryParts,
  blocks: readonly HistoricalBlock[],
  envelopes: readonly gloas.SignedExecutionPayloadEnvelope[],
): Promise<Map<RootHex, gloas.SignedExecutionPayloadEnvelope>> {
  const blockOf = new Map(blocks.map((block) => [block.root, block.signed]));
  const candidates = envelopes.flatMap((envelope) => {
    const root = toRootHex(envelope.message.beaconBlockRoot);
    const signed = blockOf.get(root);
    const set = signed && isOfBid(envelope.message, signed) && signatureSet(envelope, signed);
    return set ? [{ root, envelope, set }] : [];
  });
  const verdicts = candidates.length === 0 ? [] : await bls.verifyEach(candidates.map(({ set }) => set));
  return new Map(candidates.filter((_, index) => verdicts[index]).map(({ root, envelope }) => [root, envelope]));

  function signatureSet(
    { message, signature }: gloas.SignedExecutionPayloadEnvelope,
    { message: block }: SignedBeaconBlock,
  ): ISignatureSet | undefined {
    const signingRoot = getExecutionPayloadEnvelopeSigningRoot(config, message);
    if (message.builderIndex === BUILDER_INDEX_SELF_BUILD) {
      return createIndexedSignatureSetFromComponents(block.proposerIndex, signingRoot, signature);
    }
    const pubkey = builderPubkey(message.builderIndex);
    return pubkey && createSingleSignatureSetFromComponents(PublicKey.fromBytes(pubkey), signingRoot, signature);
  }
}

function isOfBid(
  { payload, builderIndex, executionRequests }: gloas.ExecutionPayloadEnvelope,
  { message }: SignedBeaconBlock,
): boolean {
  const bid = bidOf(message);
  return (
    bid !== undefined &&
    builderIndex === bid.builderIndex &&
    payload.slotNumber === message.slot &&
    byteArrayEquals(payload.blockHash, bid.blockHash) &&
    byteArrayEquals(ssz.gloas.ExecutionRequests.hashTreeRoot(executionRequests), bid.executionRequestsRoot)
  );
}
