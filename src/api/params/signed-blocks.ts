import type { Type } from "@chainsafe/ssz";
import type { ChainForkConfig } from "@lodestar/config";
import { type ForkName, isForkPostBellatrix, isForkPostDeneb, isForkPostGloas } from "@lodestar/params";
import {
  type SignedBeaconBlock,
  type SignedBlindedBeaconBlock,
  type SignedBlockContents,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { list, object, oneOf, shape, text } from "../schemas.ts";
import {
  type JsonObject,
  memberAt,
  type Place,
  readSszJson,
  requireMember,
  requireObject,
  slotAt,
  sszPayload,
  TOP,
  WrongPayload,
} from "./ssz-payload.ts";

const WRAPPED = "{signed_block, kzg_proofs, blobs}";
const SIGNED_BLOCK_FORMS = oneOf(
  shape("SignedBeaconBlock"),
  object({ signed_block: shape("SignedBeaconBlock"), kzg_proofs: list(text), blobs: list(text) }),
);

/**
 * A signed block of the fork of its slot. From Deneb to Fulu it comes with the blobs that it commits to; there a block
 * without any, as `get_v1_beacon_blocks_blockId` answers it, may also come alone.
 */
export const signedBlock = sszPayload<SignedBlockContents>("a signed block", readBlockOrContents, SIGNED_BLOCK_FORMS);

function readBlockOrContents(json: unknown, config: ChainForkConfig): SignedBlockContents {
  const isWrapped = Object.hasOwn(requireObject(json, TOP), "signed_block");
  const prefix = isWrapped ? ["signed_block"] : [];
  const slot = slotAt(json, [...prefix, "message", "slot"]);
  const fork = config.getForkName(slot);
  const signed = isWrapped ? (json as JsonObject).signed_block : json;
  refuseBodyOfOtherFork(config, fork, signed, isWrapped ? memberAt(TOP, "signed_block") : TOP);
  if (!isForkPostDeneb(fork) || isForkPostGloas(fork)) {
    if (isWrapped) throw new WrongPayload(`must be a signed block: blocks of ${fork} are not wrapped as ${WRAPPED}.`);
    return { signedBlock: readBlock(fork, json) };
  }
  if (isWrapped) return readSszJson(sszTypesFor(fork).SignedBlockContents as Type<SignedBlockContents>, json);
  const signedBlock = readBlock(fork, json) as SignedBeaconBlock<ForkName.deneb>;
  if (signedBlock.message.body.blobKzgCommitments.length > 0) {
    throw new WrongPayload(`must be ${WRAPPED}: the block commits to blobs, which belong beside it.`);
  }
  return { signedBlock, kzgProofs: [], blobs: [] };
}

function readBlock(fork: ForkName, json: unknown): SignedBeaconBlock {
  return readSszJson(sszTypesFor(fork).SignedBeaconBlock as Type<SignedBeaconBlock>, json);
}

/** Members that a type does not have are ignored elsewhere, but a body with those of another fork is another body. */
function refuseBodyOfOtherFork(config: ChainForkConfig, fork: ForkName, signed: unknown, block: Place): void {
  const message = memberAt(block, "message");
  const place = memberAt(message, "body");
  const body = requireObject(requireMember(requireMember(signed, "message", block), "body", message), place);
  const own = new Set(bodyMembers(fork));
  for (const { name: other } of config.forksAscendingEpochOrder) {
    for (const member of bodyMembers(other)) {
      if (!own.has(member) && Object.hasOwn(body, member)) {
        throw new WrongPayload(
          `is wrong at ${memberAt(place, member).path}: the body of a block of ${fork}, the fork of its slot, has no ` +
            "such member.",
        );
      }
    }
  }
}

function bodyMembers(fork: ForkName): string[] {
  const type: unknown = sszTypesFor(fork).BeaconBlockBody;
  return (type as { fieldsEntries: readonly { jsonKey: string }[] }).fieldsEntries.map(({ jsonKey }) => jsonKey);
}

export const signedBlindedBlock = sszPayload<SignedBlindedBeaconBlock>("a signed blinded block", (json, config) => {
  const fork = config.getForkName(slotAt(json, ["message", "slot"]));
  return readSszJson(signedBlindedBlockType(fork), json);
});

/** Before Bellatrix a block has no payload to leave out, so that its blinded form is the block itself. */
export function signedBlindedBlockType(fork: ForkName): Type<SignedBlindedBeaconBlock> {
  const isBlinded = isForkPostBellatrix(fork) && !isForkPostGloas(fork);
  const type = isBlinded ? ssz[fork].SignedBlindedBeaconBlock : ssz[fork].SignedBeaconBlock;
  return type as unknown as Type<SignedBlindedBeaconBlock>;
}
