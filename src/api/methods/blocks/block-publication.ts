import { HttpStatusCode, routes } from "@lodestar/api";
import type { ChainForkConfig } from "@lodestar/config";
import { type ForkName, isForkPostFulu } from "@lodestar/params";
import { blindedOrFullBlockHashTreeRoot, getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type {
  gloas,
  RootHex,
  SignedBeaconBlock,
  SignedBlindedBeaconBlock,
  SignedBlockContents,
  Slot,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { AnySignedBlock } from "../../../chain/import/apply-block.ts";
import { BlockRejection, isNodeStopping, isWaitingForEngine } from "../../../chain/import/block-rejection.ts";
import { verifyBlindedBlock } from "../../../chain/import/verify-block.ts";
import { hasEnvelope } from "../../../chain/payloads/new-payload.ts";
import { markBlockExpected, markBlockSeen, reportConflict, ValidatedBlock } from "../../../chain/validation/block.ts";
import { GossipValidationError } from "../../../chain/validation/outcome.ts";
import { unavailable } from "../../../errors/failure.ts";
import { codecOf, type RequestCodec } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import {
  defineEncoded,
  defineMethod,
  defineOperation,
  EMPTY_RESPONSE,
  optional,
  post,
  required,
} from "../../definition.ts";
import { BUILDER_URL_HEADER } from "../../params/builder-entries.ts";
import { broadcastValidation } from "../../params/common.ts";
import { CONSENSUS_VERSION, requireVersion } from "../../params/consensus-version.ts";
import { text } from "../../params/scalars.ts";
import { signedBlindedBlock, signedBlindedBlockType, signedBlock } from "../../params/signed-blocks.ts";
import { rejectionReason } from "../../params/ssz-payload.ts";
import { requireSynced } from "../../preconditions.ts";
import { ACCEPTED } from "../../schemas.ts";
import { blockRejected, createSidecars, requireBlobCount } from "./published-blobs.ts";
import { publishByBuilder, requireBuilder, unblindByBuilder, unblindLocally } from "./unblinding.ts";

const { BroadcastValidation } = routes.beacon;
type BroadcastValidation = routes.beacon.BroadcastValidation;

const SIGNED_BLOCK = required(
  signedBlock,
  "A signed block of the fork of its slot; from deneb to fulu wrapped with its blobs.",
  { name: "signed_block" },
);
const BROADCAST_VALIDATION = optional(
  broadcastValidation,
  "Validation that the block must pass before it is broadcast; otherwise it is rejected. Default: gossip.",
);
const STATUS = { name: "status", schema: { type: "integer", enum: [200, 202] } };
const identity = (status: number) => status;

const VERSION_HEADER = CONSENSUS_VERSION.header!.name;
/** The header is optional in the first version. */
const OPTIONAL_VERSION = { ...CONSENSUS_VERSION, header: { name: VERSION_HEADER, isRequired: false } };

const publishBlock = defineEncoded({
  number: 11,
  name: "post_v1_beacon_blocks",
  summary: "Publishes a signed block. Returns 200 if it was broadcast and imported, 202 if it was only broadcast.",
  params: {
    signedBlockContents: SIGNED_BLOCK,
    consensusVersion: { ...OPTIONAL_VERSION, only: "rest" as const },
  },
  result: STATUS,
  failures: ["unavailable", "rejected"],
  rest: [post("/eth/v1/beacon/blocks", { ssz: "body" })],
  cost: "duty",
  access: "submit",
  example: { stage: "publish", params: async (chain) => [await chain.signedBlock()] },
  codec: () => EMPTY_RESPONSE,
  requestCodec: (codecs, { chain }) => versionedBySlot(chain.config, codecOf(codecs, "beacon.publishBlockV2").req),
  resultForStatus: identity,
  async handler(context, { signedBlockContents, consensusVersion }) {
    requireVersionOf(context.chain, signedBlockContents.signedBlock, consensusVersion);
    return statusOf(await publish(context, signedBlockContents));
  },
});

const publishBlockV2 = defineOperation("beacon.publishBlockV2", {
  name: "post_v2_beacon_blocks",
  summary: "Publishes a signed block. Returns 200 if it was broadcast and imported, 202 if it was only broadcast.",
  params: {
    signedBlockContents: { ...SIGNED_BLOCK, name: "signed_block_or_contents" },
    broadcastValidation: BROADCAST_VALIDATION,
    consensusVersion: CONSENSUS_VERSION,
    builderUrl: optional(text("a URL"), "URL of the builder whose bid the block has, which then receives the block.", {
      header: { name: BUILDER_URL_HEADER, isRequired: false, isVerbatim: true },
    }),
  },
  result: STATUS,
  failures: ["unavailable", "rejected"],
  rest: [post("/eth/v2/beacon/blocks", { ssz: "body" })],
  cost: "duty",
  access: "submit",
  example: { stage: "publish", params: async (chain) => [await chain.signedBlock(), "consensus", chain.fork] },
  resultForStatus: identity,
  async handler(context, { signedBlockContents, broadcastValidation, consensusVersion, builderUrl }) {
    const { chain } = context;
    const { signedBlock } = signedBlockContents;
    requireVersionOf(chain, signedBlock, consensusVersion);
    const publication = await publish(context, signedBlockContents, broadcastValidation);
    if (builderUrl !== undefined && hasEnvelope(chain.config, signedBlock.message.slot)) {
      void chain.builderMarket.submitBlock(builderUrl, signedBlock as gloas.SignedBeaconBlock);
    }
    return statusOf(publication);
  },
});

const BLINDED_BODY: RequestCodec = {
  parseReqSsz: ({ headers, body }) => ({
    signedBlindedBlock: signedBlindedBlockType(headers[VERSION_HEADER.toLowerCase()] as ForkName).deserialize(body),
  }),
};

const publishBlindedBlock = defineOperation("beacon.publishBlindedBlockV2", {
  name: "post_v2_beacon_blinded_blocks",
  aliases: ["post_v1_beacon_blinded_blocks"],
  summary:
    "Publishes a signed blinded block, whose payload was built by the node or comes from its builder. Returns 200 if it was " +
    "broadcast and imported, 202 if it was only broadcast. From fulu on the builder broadcasts its blocks: 202.",
  params: {
    signedBlindedBlock: required(signedBlindedBlock, "A signed blinded block of the fork of its slot."),
    broadcastValidation: BROADCAST_VALIDATION,
    consensusVersion: CONSENSUS_VERSION,
  },
  result: STATUS,
  failures: ["unavailable", "rejected", "unsupported"],
  rest: [
    post("/eth/v2/beacon/blinded_blocks", { ssz: "body" }),
    post("/eth/v1/beacon/blinded_blocks", { ssz: "body" }),
  ],
  cost: "duty",
  access: "submit",
  example: {
    stage: "publish",
    params: async (chain) => [await chain.blindedBlock(), "consensus_and_equivocation", chain.fork],
  },
  requestCodec: (_codecs, { chain }) => versionedBySlot(chain.config, BLINDED_BODY),
  resultForStatus: identity,
  async handler(context, { signedBlindedBlock, broadcastValidation, consensusVersion }) {
    requireVersionOf(context.chain, signedBlindedBlock, consensusVersion);
    const contents = await unblindLocally(context.chain, signedBlindedBlock);
    if (contents === null) return publishThroughBuilder(context, signedBlindedBlock, broadcastValidation);
    return statusOf(await publish(context, contents, broadcastValidation));
  },
});

const publishValidatorBlock = defineMethod({
  number: 33,
  name: "post_v1_validator_block",
  summary: "Publishes a signed block. Returns true if it was broadcast and imported.",
  params: { signedBlockContents: SIGNED_BLOCK },
  result: ACCEPTED,
  failures: ["unavailable", "rejected"],
  cost: "duty",
  access: "submit",
  example: { stage: "publish", params: async (chain) => [await chain.signedBlock()] },
  // In the Beacon API draft of 2020, a block that was broadcast but not imported is an error.
  async handler(context, { signedBlockContents }) {
    const publication = await publish(context, signedBlockContents);
    if (!publication.imported) throw notImported(publication.rejection);
    return true;
  },
});

export const blockPublicationMethods = [
  publishBlock,
  publishValidatorBlock,
  publishBlockV2,
  publishBlindedBlock,
] as const;

/** Adds the version header to SSZ requests that lack it, based on the slot of the block. */
function versionedBySlot(config: ChainForkConfig, { parseReqSsz }: RequestCodec): RequestCodec {
  const header = VERSION_HEADER.toLowerCase();
  return {
    parseReqSsz: (request) => {
      const version = request.headers[header]?.toLowerCase() ?? config.getForkName(slotInSsz(request.body));
      return parseReqSsz?.({ ...request, headers: { ...request.headers, [header]: version } });
    },
  };
}

/**
 * Offset of the message in a serialized signed block, where it follows the offset of the message and the signature.
 * Block contents start with the offset of the block.
 */
const MESSAGE_OFFSET = 4 + 96;

function slotInSsz(bytes: Uint8Array): Slot {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = view.byteLength < 4 ? 0 : view.getUint32(0, true);
  const slotAt = first === MESSAGE_OFFSET ? first : first + MESSAGE_OFFSET;
  if (slotAt + 8 > view.byteLength) throw new Error("it is too short to be a signed block.");
  return Number(view.getBigUint64(slotAt, true));
}

function requireVersionOf({ config }: BeaconChain, { message }: AnySignedBlock, version: ForkName | undefined): void {
  requireVersion(version, config.getForkName(message.slot));
}

function statusOf({ imported }: Publication): { status: number } {
  return { status: imported ? HttpStatusCode.OK : HttpStatusCode.ACCEPTED };
}

/** Outcome of publishing a block that passed gossip validation and was broadcast. */
type Publication = { imported: true } | { imported: false; rejection: BlockRejection };

/**
 * Validates a signed block according to the gossip rules, broadcasts it and imports it. The validation level determines
 * whether the broadcast comes before or after the import.
 */
async function publish(
  { chain, broadcast }: Pick<ApiContext, "chain" | "broadcast">,
  contents: SignedBlockContents,
  level: BroadcastValidation = BroadcastValidation.gossip,
): Promise<Publication> {
  const arrivedAt = chain.clock.nowSeconds();
  const signed = contents.signedBlock;
  const mustBeUnique = level === BroadcastValidation.consensusAndEquivocation;
  const mustBeImported = mustBeUnique || level === BroadcastValidation.consensus;
  requireSynced(chain);
  const isKnown = await isStored(chain, signed);
  if (mustBeUnique || !isKnown) await rejectEquivocation(chain, signed);
  if (isKnown) return { imported: true };
  // Since gloas, blobs are published with the payload.
  if (!hasEnvelope(chain.config, signed.message.slot)) requireBlobCount(chain, contents);
  const { slot } = signed.message;
  const root = rootOf(chain, signed.message);
  const validated = await requireGossipRules(chain, signed, () => ValidatedBlock.validate(chain.validation, signed));
  const sidecars = await createSidecars(chain, contents);
  const send = async () => {
    // The block is not marked until the broadcast: if it is never broadcast, the proposer may still publish a different
    // block.
    const markSeen = () => {
      markBlockSeen(chain.validation, signed.message, root);
      return true;
    };
    const isNew = validated && (await requireGossipRules(chain, signed, markSeen));
    chain.sidecars.announce(sidecars);
    if (isNew) chain.events.publish("blockGossip", { slot, root, signed });
    broadcast.block(signed);
    if (sidecars.length > 0) broadcast.sidecars(sidecars);
  };
  // Peers may request the sidecars as soon as the block is broadcast, and the import needs them as well.
  chain.sidecars.addToPool(sidecars);
  if (!mustBeImported) await send();
  const rejection = await tryImport(chain, validated ?? signed, arrivedAt);
  if (mustBeImported) {
    // Consensus validation does not include the execution engine's verdict.
    if (rejection && !isWaitingForEngine(rejection)) throw blockRejected(rejection.message);
    // A different block by the same proposer may have been imported in the meantime.
    if (mustBeUnique) await rejectEquivocation(chain, signed);
    await send();
  }
  return rejection ? { imported: false, rejection } : { imported: true };
}

/** Imports a block. Returns the rejection, or null if the block was imported. */
async function tryImport(
  chain: BeaconChain,
  block: SignedBeaconBlock | ValidatedBlock,
  arrivedAt: number,
): Promise<BlockRejection | null> {
  try {
    await chain.importBlock(block, { arrivedAt });
    return null;
  } catch (error) {
    if (!(error instanceof BlockRejection)) throw error;
    if (isNodeStopping(error)) throw error.cause;
    return error;
  }
}

/**
 * Publishes a blinded block through the builder that made its payload. The builder broadcasts the block as well, so
 * everything except the payload is validated first, and from then on other blocks by the proposer are rejected.
 */
async function publishThroughBuilder(
  context: Pick<ApiContext, "chain" | "broadcast">,
  signed: SignedBlindedBeaconBlock,
  level: BroadcastValidation = BroadcastValidation.gossip,
): Promise<{ status: number }> {
  const { chain } = context;
  const builder = requireBuilder(chain, signed);
  requireSynced(chain);
  if (await isStored(chain, signed)) return statusOf({ imported: true });
  await requireGossipRules(chain, signed, () => ValidatedBlock.validate(chain.validation, signed));
  if (level !== BroadcastValidation.gossip) await requireTransition(chain, signed);
  await rejectEquivocation(chain, signed);
  const root = rootOf(chain, signed.message);
  await requireGossipRules(chain, signed, () => markBlockExpected(chain.validation, signed.message, root));
  if (isForkPostFulu(chain.config.getForkName(signed.message.slot))) {
    await publishByBuilder(builder, signed);
    return { status: HttpStatusCode.ACCEPTED };
  }
  const contents = await unblindByBuilder(chain.config, builder, signed);
  return statusOf(await publish(context, contents, level));
}

async function requireTransition(chain: BeaconChain, signed: SignedBlindedBeaconBlock): Promise<void> {
  const { config, states, validation } = chain;
  try {
    await verifyBlindedBlock(signed, { config, states, bls: validation.bls });
  } catch (error) {
    if (error instanceof BlockRejection) throw blockRejected(error.message);
    throw error;
  }
}

/**
 * Throws if the proposer has another block in the slot. Gossip validation only knows blocks seen since the node was
 * started, but the chain may have others.
 */
async function rejectEquivocation(chain: BeaconChain, signed: AnySignedBlock): Promise<void> {
  const { message } = signed;
  const root = rootOf(chain, message);
  const atSlot = await chain.blocks.atSlot(message.slot);
  const other = atSlot.find((block) => {
    return block.root !== root && block.signed.message.proposerIndex === message.proposerIndex;
  });
  if (other === undefined) return;
  await requireGossipRules(chain, signed, () => reportConflict(chain.validation, signed, other.root));
  throw blockRejected(
    `Validator ${message.proposerIndex} has already proposed another block for slot ${message.slot} (${other.root}, now ` +
      `${root}).`,
  );
}

/**
 * Runs a gossip validation. Returns its result, or undefined if the block was seen before. Throws if the block is
 * invalid.
 */
async function requireGossipRules<T>(
  chain: BeaconChain,
  signed: AnySignedBlock,
  validate: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await validate();
  } catch (error) {
    if (!(error instanceof GossipValidationError)) throw error;
    if (!error.known) throw blockRejected(rejectionReason(signed, error.message));
    // The block was recognized by its root, which does not cover the signature. Its import may be in progress or have
    // failed, in which case a second import returns the outcome.
    if (!(await isSignedByProposer(chain, signed))) throw blockRejected(notSigned(signed));
    return undefined;
  }
}

/**
 * Returns true if the block is stored. BLS signatures are unique, so this block is invalid if the stored one has a
 * different signature.
 */
async function isStored(chain: BeaconChain, signed: AnySignedBlock): Promise<boolean> {
  const { blocks, forkChoice } = chain;
  const root = rootOf(chain, signed.message);
  // An invalid block may be in the database.
  if (forkChoice.isInvalid(root)) throw blockRejected(`The execution payload of block ${root} is invalid.`);
  const storedBlock = await blocks.signedByRoot(root);
  if (storedBlock === null) return false;
  if (Buffer.compare(storedBlock.signature, signed.signature) === 0) return true;
  throw blockRejected(notSigned(signed));
}

/** Returns the block root. A blinded block has the same root as the full block. */
function rootOf({ config }: Pick<BeaconChain, "config">, message: AnySignedBlock["message"]): RootHex {
  return toRootHex(blindedOrFullBlockHashTreeRoot(config, message));
}

function isSignedByProposer({ config, validation }: BeaconChain, signed: AnySignedBlock): Promise<boolean> {
  return validation.bls.verify([getBlockProposerSignatureSet(config, signed)]);
}

function notSigned({ message }: AnySignedBlock): string {
  return `The block of slot ${message.slot} is not signed by validator ${message.proposerIndex}.`;
}

/** Returns the error for a block that was broadcast but not imported. */
function notImported(rejection: BlockRejection) {
  if (!isWaitingForEngine(rejection)) return blockRejected(rejection.message);
  return unavailable(`The block was broadcast, but is not imported yet. ${rejection.message}`);
}
