import { HttpStatusCode, routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { CELLS_PER_EXT_BLOB, isForkPostFulu } from "@lodestar/params";
import { getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { deneb, SignedBeaconBlock, SignedBlockContents } from "@lodestar/types";
import { blockRoot } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection } from "../../chain/import/block-rejection.ts";
import { validateGossipBlock } from "../../chain/validation/block.ts";
import { GossipRefusal } from "../../chain/validation/outcome.ts";
import { rejected } from "../../errors.ts";
import type { Broadcast } from "../../network/broadcast.ts";
import { requireSynced } from "../gate.ts";

const { BroadcastValidation } = routes.beacon;
type BroadcastValidation = routes.beacon.BroadcastValidation;

export interface PublishApi extends Pick<ApplicationMethods<routes.beacon.Endpoints>, "publishBlockV2"> {
  /** The standard's draft of 2020: a block that is not imported is a failure, though it was spread. */
  publishValidatorBlock(args: { signedBlockContents: SignedBlockContents }): Promise<true>;
}

interface Publishing {
  chain: BeaconChain;
  broadcast: Broadcast;
}

export function createPublishApi(chain: BeaconChain, broadcast: Broadcast): PublishApi {
  return {
    async publishBlockV2({ signedBlockContents, broadcastValidation }) {
      const { imported } = await publishBlock({ chain, broadcast }, signedBlockContents, broadcastValidation);
      return { status: imported ? HttpStatusCode.OK : HttpStatusCode.ACCEPTED };
    },

    async publishValidatorBlock({ signedBlockContents }) {
      const publication = await publishBlock({ chain, broadcast }, signedBlockContents);
      if (!publication.imported) throw refused(publication.rejection.message);
      return true;
    },
  };
}

/** The block passed the gossip rules; it may still have turned out not to be a valid block. */
export type Publication = { imported: true } | { imported: false; rejection: BlockRejection };

/**
 * Takes a signed block from outside: first the gossip rules, then the import. It is spread as soon as it has passed the
 * rules of that level; by default they are those of gossip, and no level asks for less than a network takes.
 */
export async function publishBlock(
  { chain, broadcast }: Publishing,
  contents: SignedBlockContents,
  level: BroadcastValidation = BroadcastValidation.gossip,
): Promise<Publication> {
  const signed = contents.signedBlock;
  const mustBeOnly = level === BroadcastValidation.consensusAndEquivocation;
  const mustBeImported = mustBeOnly || level === BroadcastValidation.consensus;
  requireSynced(chain);
  if (mustBeOnly) await refuseEquivocation(chain, signed);
  if (await isHeldAlready(chain, signed)) return { imported: true };
  refuseWrongBlobs(chain, contents);
  await requireGossipRules(chain, signed);
  if (!mustBeImported) broadcast.block(signed);
  try {
    await chain.importBlock(signed);
  } catch (error) {
    if (!(error instanceof BlockRejection)) throw error;
    if (mustBeImported) throw refused(error.message);
    return { imported: false, rejection: error };
  }
  // Another one may have been imported by then.
  if (mustBeOnly) await refuseEquivocation(chain, signed);
  if (mustBeImported) broadcast.block(signed);
  return { imported: true };
}

/** The gossip rules know the first block of a proposer that they saw; the chain may hold others that came another way. */
async function refuseEquivocation({ config, blocks }: BeaconChain, { message }: SignedBeaconBlock): Promise<void> {
  const root = blockRoot(config, message);
  const atSlot = await blocks.atSlot(message.slot);
  const other = atSlot.find((block) => {
    return block.root !== root && block.signed.message.proposerIndex === message.proposerIndex;
  });
  if (other === undefined) return;
  throw refused(
    `Validator ${message.proposerIndex} has already proposed another block for slot ${message.slot} (${other.root}, now ` +
      `${root}).`,
  );
}

async function requireGossipRules(chain: BeaconChain, signed: SignedBeaconBlock): Promise<void> {
  try {
    const { root } = await validateGossipBlock(chain.validation, signed);
    chain.events.publish("blockGossip", { slot: signed.message.slot, root });
  } catch (error) {
    if (!(error instanceof GossipRefusal)) throw error;
    if (!error.known) throw refused(error.message);
    // A block that was seen but is not held may be on its way in, or failed to be imported: the import knows. It was
    // recognised by its root, which does not cover the signature.
    if (!(await isSignedByProposer(chain, signed))) throw refused(notSigned(signed));
  }
}

/** A message has one valid signature only, so a block with another one than the block held is not that block. */
async function isHeldAlready({ config, blocks }: BeaconChain, { message, signature }: SignedBeaconBlock) {
  const root = blockRoot(config, message);
  const held = await blocks.signedByRoot(root);
  if (held === null) return false;
  if (Buffer.compare(held.signature, signature) === 0) return true;
  throw refused(notSigned({ message, signature }));
}

function isSignedByProposer({ config, validation }: BeaconChain, signed: SignedBeaconBlock): Promise<boolean> {
  return validation.bls.verify([getBlockProposerSignatureSet(config, signed)]);
}

function notSigned({ message }: SignedBeaconBlock): string {
  return `The block of slot ${message.slot} is not signed by validator ${message.proposerIndex}.`;
}

/** Fulu has a proof for each cell of a blob (EIP-7594), Deneb one for the whole blob. */
function refuseWrongBlobs({ config }: BeaconChain, contents: SignedBlockContents): void {
  if (!("blobs" in contents)) return;
  const { signedBlock, blobs, kzgProofs } = contents;
  const { slot, body } = signedBlock.message;
  const commitments = (body as deneb.BeaconBlockBody).blobKzgCommitments.length;
  const proofs = commitments * (isForkPostFulu(config.getForkName(slot)) ? CELLS_PER_EXT_BLOB : 1);
  if (blobs.length === commitments && kzgProofs.length === proofs) return;
  throw refused(
    `The block commits to ${commitments} blobs, which takes as many blobs and ${proofs} proofs, but ${blobs.length} ` +
      `blobs and ${kzgProofs.length} proofs came with it.`,
  );
}

function refused(reason: string) {
  return rejected(`The block was rejected: ${reason}`, { detail: reason });
}
