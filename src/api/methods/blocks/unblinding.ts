import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import {
  type ForkPostBellatrix,
  ForkSeq,
  isForkPostBellatrix,
  isForkPostDeneb,
  isForkPostGloas,
} from "@lodestar/params";
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

/** Unblinds a block if the node built its payload or has the full block. Returns null for all other blocks. */
export async function unblindLocally(
  chain: BeaconChain,
  signed: SignedBlindedBeaconBlock,
): Promise<SignedBlockContents | null> {
  const fork = chain.config.getForkName(signed.message.slot);
  // If there is no execution payload, the blinded block is identical to the full block.
  if (!isForkPostBellatrix(fork) || isForkPostGloas(fork))
    return { signedBlock: signed as SignedBeaconBlock } as SignedBlockContents;
  const knownPayload = builtPayload(chain, signed) ?? (await storedPayload(chain, signed));
  if (knownPayload === null) return null;
  const signedBlock = signedBlindedBlockToFull(fork, signed, knownPayload.payload);
  if (!isForkPostDeneb(fork)) return { signedBlock } as SignedBlockContents;
  const { blobs = [], proofs: kzgProofs = [] } = knownPayload.blobsBundle ?? {};
  return { signedBlock, blobs, kzgProofs } as SignedBlockContents;
}

type KnownPayload = Pick<BuiltPayload, "payload" | "blobsBundle">;

function builtPayload({ producer }: BeaconChain, { message }: SignedBlindedBeaconBlock): KnownPayload | undefined {
  return producer.builtPayload(toRootHex(message.body.executionPayloadHeader.blockHash));
}

/** Returns the payload of a stored block. Its blobs are already stored, so they are not returned. */
async function storedPayload(
  { config, blocks }: BeaconChain,
  { message }: SignedBlindedBeaconBlock,
): Promise<KnownPayload | null> {
  const block = await blocks.signedByRoot(toRootHex(blindedOrFullBlockHashTreeRoot(config, message)));
  return block && { payload: (block.message.body as bellatrix.BeaconBlockBody).executionPayload };
}

/** Returns the builder that can unblind a block. Throws if the node itself built the payload or there is no builder. */
export function requireBuilder({ builder, producer }: BeaconChain, { message }: SignedBlindedBeaconBlock): Builder {
  const blockHash = toRootHex(message.body.executionPayloadHeader.blockHash);
  if (producer.wasBuilt(blockHash)) {
    throw unavailable(
      `Payload ${blockHash} of the blinded block was built by this node, but has been evicted by newer ones. Slot ` +
        `${message.slot} stays empty unless another node has the payload.`,
    );
  }
  if (builder !== undefined) return builder;
  throw unsupported(
    `Payload ${blockHash} of the blinded block is unknown, and the node has no builder to request it from.`,
  );
}

/** Requests the payload from the builder and returns the full block. Used up to electra. */
export async function unblindByBuilder(
  config: BeaconConfig,
  builder: Builder,
  signed: SignedBlindedBeaconBlock,
): Promise<SignedBlockContents> {
  const { slot, body } = signed.message;
  const fork = config.getForkName(slot) as ForkPostBellatrix;
  const { executionPayload, blobsBundle } = await requirePayload(slot, () => builder.revealPayload(signed));
  const type = sszTypesFor(fork).ExecutionPayloadHeader as Type<ExecutionPayloadHeader>;
  const revealed = executionPayloadToPayloadHeader(ForkSeq[fork], executionPayload);
  if (!type.equals(revealed, body.executionPayloadHeader)) {
    throw withheld(slot, `It returned payload ${toRootHex(revealed.blockHash)} instead of the one in its bid.`);
  }
  if (blobsBundle && !ssz.deneb.BlobKzgCommitments.equals(blobsBundle.commitments, commitmentsOf(signed))) {
    throw withheld(slot, "It returned other blobs than those in its bid.");
  }
  return reconstructSignedBlockContents(fork, signed, executionPayload, blobsBundle);
}

/** Submits a blinded block to the builder, which publishes it without returning the payload. Used from fulu on. */
export async function publishByBuilder(builder: Builder, signed: SignedBlindedBeaconBlock): Promise<void> {
  await requirePayload(signed.message.slot, () => builder.publishBlock(signed));
}

async function requirePayload<T>(slot: Slot, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof BuilderError)) throw error;
    throw withheld(slot, error.message, error);
  }
}

/** Signing another block for the slot would be slashable, so there is no fallback to a local payload. */
function withheld(slot: Slot, reason: string, cause?: unknown) {
  return unavailable(
    `The builder did not provide the payload of the signed block, so slot ${slot} stays empty: ${reason}`,
    { cause },
  );
}
