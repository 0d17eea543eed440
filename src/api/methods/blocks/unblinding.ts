import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq, isForkPostBellatrix, isForkPostDeneb } from "@lodestar/params";
import {
  blindedOrFullBlockHashTreeRoot,
  executionPayloadToPayloadHeader,
  reconstructSignedBlockContents,
  signedBlindedBlockToFull,
} from "@lodestar/state-transition";
import {
  type bellatrix,
  type ExecutionPayloadHeader,
  type SignedBeaconBlock,
  type SignedBlindedBeaconBlock,
  type SignedBlockContents,
  type Slot,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { commitmentsOf } from "../../../data/commitments.ts";
import { unavailable, unsupported } from "../../../errors/failure.ts";
import { type Builder, BuilderError } from "../../../execution/builder/builder.ts";
import type { BuiltPayload } from "../../../execution/engine.ts";

/** The whole block, when its payload is one that the node built, or it is held already; null otherwise. */
export async function knownContents(
  chain: BeaconChain,
  signed: SignedBlindedBeaconBlock,
): Promise<SignedBlockContents | null> {
  const fork = chain.config.getForkName(signed.message.slot);
  // There is no payload to leave out, so that the blinded form is the block itself.
  if (!isForkPostBellatrix(fork)) return { signedBlock: signed as SignedBeaconBlock } as SignedBlockContents;
  const known = builtPayload(chain, signed) ?? (await heldPayload(chain, signed));
  if (known === null) return null;
  const signedBlock = signedBlindedBlockToFull(fork, signed, known.payload);
  if (!isForkPostDeneb(fork)) return { signedBlock } as SignedBlockContents;
  const { blobs = [], proofs: kzgProofs = [] } = known.blobsBundle ?? {};
  return { signedBlock, blobs, kzgProofs } as SignedBlockContents;
}

type KnownPayload = Pick<BuiltPayload, "payload" | "blobsBundle">;

function builtPayload({ producer }: BeaconChain, { message }: SignedBlindedBeaconBlock): KnownPayload | undefined {
  return producer.builtPayload(toRootHex(message.body.executionPayloadHeader.blockHash));
}

/** The blobs of a block that is held are not needed again. */
async function heldPayload(
  { config, blocks }: BeaconChain,
  { message }: SignedBlindedBeaconBlock,
): Promise<KnownPayload | null> {
  const held = await blocks.signedByRoot(toRootHex(blindedOrFullBlockHashTreeRoot(config, message)));
  return held && { payload: (held.message.body as bellatrix.BeaconBlockBody).executionPayload };
}

/** Who has the payload of a blinded block that the node does not know. */
export function requireBuilder({ builder, producer }: BeaconChain, { message }: SignedBlindedBeaconBlock): Builder {
  const blockHash = toRootHex(message.body.executionPayloadHeader.blockHash);
  if (producer.wasBuilt(blockHash)) {
    throw unavailable(
      `The payload ${blockHash} of the blinded block was built by this node, which does not hold it any more: newer ` +
        `blocks were produced since. Slot ${message.slot} stays without a block, unless another node holds the payload.`,
    );
  }
  if (builder !== undefined) return builder;
  throw unsupported(
    `The payload ${blockHash} of the blinded block is not known to the node, which has no builder to get it from.`,
  );
}

/** Up to electra: the whole block, with what the builder reveals. */
export async function revealedContents(
  config: BeaconConfig,
  builder: Builder,
  signed: SignedBlindedBeaconBlock,
): Promise<SignedBlockContents> {
  const { slot, body } = signed.message;
  const fork = config.getForkName(slot) as ForkPostBellatrix;
  const { executionPayload, blobsBundle } = await requirePayload(slot, () => builder.revealPayload(signed));
  const type = sszTypesFor(fork).ExecutionPayloadHeader as Type<ExecutionPayloadHeader>;
  const given = executionPayloadToPayloadHeader(ForkSeq[fork], executionPayload);
  if (!type.equals(given, body.executionPayloadHeader)) {
    throw withheld(slot, `It gave the payload ${toRootHex(given.blockHash)}, which is not the one that it bid for.`);
  }
  if (blobsBundle && !ssz.deneb.BlobKzgCommitments.equals(blobsBundle.commitments, commitmentsOf(signed))) {
    throw withheld(slot, "It gave other blobs than those that it bid for.");
  }
  return reconstructSignedBlockContents(fork, signed, executionPayload, blobsBundle);
}

/** From fulu on: the builder publishes the whole block, and does not give its payload to the proposer. */
export async function letBuilderPublish(builder: Builder, signed: SignedBlindedBeaconBlock): Promise<void> {
  await requirePayload(signed.message.slot, () => builder.publishBlock(signed));
}

async function requirePayload<T>(slot: Slot, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof BuilderError)) throw error;
    throw withheld(slot, error.message, error);
  }
}

/** Whoever has signed a block must not sign another one of its slot, so there is no way back to the node's own payload. */
function withheld(slot: Slot, reason: string, cause?: unknown) {
  return unavailable(
    `The builder withholds the payload of the signed block of slot ${slot}, which stays without a block: ${reason}`,
    { cause },
  );
}
