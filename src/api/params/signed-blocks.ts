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
import { list, object, oneOf, shape } from "../schemas.ts";
import {
  InvalidPayloadError,
  type JsonObject,
  memberLocation,
  type PayloadLocation,
  readSszJson,
  requireMember,
  requireObject,
  slotAt,
  sszPayload,
  TOP_LEVEL,
} from "./ssz-payload.ts";

const WRAPPED = "{signed_block, kzg_proofs, blobs}";
const SIGNED_BLOCK_FORMS = oneOf(
  shape("SignedBeaconBlock"),
  object({ signed_block: shape("SignedBeaconBlock"), kzg_proofs: list(shape("Bytes")), blobs: list(shape("Bytes")) }),
);

/**
 * A signed block in the format of its slot's fork. From deneb to fulu, the block is wrapped together with its blobs. A
 * block without blobs is also accepted unwrapped, as `get_v1_beacon_blocks_blockId` returns it.
 */
export const signedBlock = sszPayload<SignedBlockContents>("a signed block", readBlockOrContents, SIGNED_BLOCK_FORMS);

function readBlockOrContents(json: unknown, config: ChainForkConfig): SignedBlockContents {
  const isWrapped = Object.hasOwn(requireObject(json, TOP_LEVEL), "signed_block");
  const prefix = isWrapped ? ["signed_block"] : [];
  const slot = slotAt(json, [...prefix, "message", "slot"]);
  const fork = config.getForkName(slot);
  const signed = isWrapped ? (json as JsonObject).signed_block : json;
  rejectBodyOfOtherFork(config, fork, signed, isWrapped ? memberLocation(TOP_LEVEL, "signed_block") : TOP_LEVEL);
  if (!isForkPostDeneb(fork) || isForkPostGloas(fork)) {
    if (isWrapped)
      throw new InvalidPayloadError(`must be a signed block: ${fork} blocks are not wrapped as ${WRAPPED}.`);
    return { signedBlock: readBlock(fork, json) };
  }
  if (isWrapped) return readSszJson(sszTypesFor(fork).SignedBlockContents as Type<SignedBlockContents>, json);
  const signedBlock = readBlock(fork, json) as SignedBeaconBlock<ForkName.deneb>;
  if (signedBlock.message.body.blobKzgCommitments.length > 0) {
    throw new InvalidPayloadError(`must be ${WRAPPED}: the block commits to blobs, which must be included.`);
  }
  return { signedBlock, kzgProofs: [], blobs: [] };
}

function readBlock(fork: ForkName, json: unknown): SignedBeaconBlock {
  return readSszJson(sszTypesFor(fork).SignedBeaconBlock as Type<SignedBeaconBlock>, json);
}

/** Throws if the body has members that belong to another fork. All other unknown members are ignored. */
function rejectBodyOfOtherFork(config: ChainForkConfig, fork: ForkName, signed: unknown, block: PayloadLocation): void {
  const message = memberLocation(block, "message");
  const location = memberLocation(message, "body");
  const body = requireObject(requireMember(requireMember(signed, "message", block), "body", message), location);
  const allowed = new Set(bodyMembers(fork));
  for (const { name: other } of config.forksAscendingEpochOrder) {
    for (const member of bodyMembers(other)) {
      if (!allowed.has(member) && Object.hasOwn(body, member)) {
        throw new InvalidPayloadError(
          `is invalid at ${memberLocation(location, member).path}: blocks of ${fork}, the fork of its slot, have no such member.`,
        );
      }
    }
  }
}

function bodyMembers(fork: ForkName): string[] {
  const type: unknown = sszTypesFor(fork).BeaconBlockBody;
  return (type as { fieldsEntries: readonly { jsonKey: string }[] }).fieldsEntries.map(({ jsonKey }) => jsonKey);
}

export const signedBlindedBlock = sszPayload<SignedBlindedBeaconBlock>(
  "a signed blinded block",
  (json, config) => {
    const fork = config.getForkName(slotAt(json, ["message", "slot"]));
    return readSszJson(signedBlindedBlockType(fork), json);
  },
  shape("SignedBlindedBeaconBlock"),
);

/** Returns the type of a signed blinded block. A block without an execution payload is the same in blinded form. */
export function signedBlindedBlockType(fork: ForkName): Type<SignedBlindedBeaconBlock> {
  const isBlinded = isForkPostBellatrix(fork) && !isForkPostGloas(fork);
  const type = isBlinded ? ssz[fork].SignedBlindedBeaconBlock : ssz[fork].SignedBeaconBlock;
  return type as unknown as Type<SignedBlindedBeaconBlock>;
}
