import { HttpStatusCode, routes } from "@lodestar/api";
import type { ChainForkConfig } from "@lodestar/config";
import { type ForkName, isForkPostFulu } from "@lodestar/params";
import { blindedOrFullBlockHashTreeRoot, getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, SignedBlindedBeaconBlock, SignedBlockContents, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { AnySignedBlock } from "../../../chain/import/apply-block.ts";
import { BlockRejection, isNodeStopping, isWaitingForEngine } from "../../../chain/import/block-rejection.ts";
import { verifyBlindedBlock } from "../../../chain/import/verify-block.ts";
import { checkGossipBlock, markBlockExpected, markBlockSeen, reportConflict } from "../../../chain/validation/block.ts";
import { GossipRefusal } from "../../../chain/validation/outcome.ts";
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
import { broadcastValidation } from "../../params/common.ts";
import { CONSENSUS_VERSION, requireVersion } from "../../params/consensus-version.ts";
import { signedBlindedBlock, signedBlindedBlockType, signedBlock } from "../../params/signed-blocks.ts";
import { rejectionReason } from "../../params/ssz-payload.ts";
import { requireSynced } from "../../preconditions.ts";
import { isTrue } from "../../schemas.ts";
import { refused, requireBlobs, rightSidecars } from "./published-blobs.ts";
import { knownContents, letBuilderPublish, requireBuilder, revealedContents } from "./unblinding.ts";

const { BroadcastValidation } = routes.beacon;
type BroadcastValidation = routes.beacon.BroadcastValidation;

const SIGNED_BLOCK = required(
  signedBlock,
  "A signed block of the fork of its slot; from Deneb to Fulu together with its blobs.",
  { name: "signed_block" },
);
const BROADCAST_VALIDATION = optional(
  broadcastValidation,
  "The rules that a block must pass to be broadcast; one that fails is rejected. By default those of gossip.",
);
const STATUS = { name: "status", schema: { type: "integer", enum: [200, 202] } };
const itself = (status: number) => status;

const VERSION_HEADER = CONSENSUS_VERSION.header!.name;
/** The first version leaves it to the caller whether to name the fork. */
const VERSION_IF_GIVEN = { ...CONSENSUS_VERSION, header: { name: VERSION_HEADER, isRequired: false } };

const publishBlock = defineEncoded({
  number: 11,
  name: "post_v1_beacon_blocks",
  summary: "Takes a signed block: 200 when it was broadcast and imported, 202 when it was only broadcast.",
  params: {
    signedBlockContents: SIGNED_BLOCK,
    consensusVersion: { ...VERSION_IF_GIVEN, only: "rest" as const },
  },
  result: STATUS,
  failures: ["unavailable", "rejected"],
  rest: [post("/eth/v1/beacon/blocks", { ssz: "body" })],
  cost: "duty",
  access: "submit",
  example: { stage: "publish", params: async (chain) => [await chain.signedBlock()] },
  codec: () => EMPTY_RESPONSE,
  requestCodec: (codecs, { chain }) => versionedBySlot(chain.config, codecOf(codecs, "beacon.publishBlockV2").req),
  resultForStatus: itself,
  async handler(context, { signedBlockContents, consensusVersion }) {
    requireVersionOf(context.chain, signedBlockContents.signedBlock, consensusVersion);
    return statusOf(await publish(context, signedBlockContents));
  },
});

const publishBlockV2 = defineOperation("beacon.publishBlockV2", {
  name: "post_v2_beacon_blocks",
  summary: "Takes a signed block: 200 when it was broadcast and imported, 202 when it was only broadcast.",
  params: {
    signedBlockContents: { ...SIGNED_BLOCK, name: "signed_block_or_contents" },
    broadcastValidation: BROADCAST_VALIDATION,
    consensusVersion: CONSENSUS_VERSION,
  },
  result: STATUS,
  failures: ["unavailable", "rejected"],
  rest: [post("/eth/v2/beacon/blocks", { ssz: "body" })],
  cost: "duty",
  access: "submit",
  example: { stage: "publish", params: async (chain) => [await chain.signedBlock(), "consensus", chain.fork] },
  resultForStatus: itself,
  async handler(context, { signedBlockContents, broadcastValidation, consensusVersion }) {
    requireVersionOf(context.chain, signedBlockContents.signedBlock, consensusVersion);
    return statusOf(await publish(context, signedBlockContents, broadcastValidation));
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
    "Takes a signed block without its payload, which is one that the node knows or comes from its builder; before bellatrix " +
    "the block itself. Answers like post_v2_beacon_blocks; from fulu on the builder broadcasts its block, which is then 202.",
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
  resultForStatus: itself,
  async handler(context, { signedBlindedBlock, broadcastValidation, consensusVersion }) {
    requireVersionOf(context.chain, signedBlindedBlock, consensusVersion);
    const contents = await knownContents(context.chain, signedBlindedBlock);
    if (contents === null) return publishThroughBuilder(context, signedBlindedBlock, broadcastValidation);
    return statusOf(await publish(context, contents, broadcastValidation));
  },
});

const publishValidatorBlock = defineMethod({
  number: 33,
  name: "post_v1_validator_block",
  summary: "Takes a signed block; true when it was broadcast and imported.",
  params: { signedBlockContents: SIGNED_BLOCK },
  result: { name: "accepted", schema: isTrue },
  failures: ["unavailable", "rejected"],
  cost: "duty",
  access: "submit",
  example: { stage: "publish", params: async (chain) => [await chain.signedBlock()] },
  // It is of the standard's draft of 2020: a block that is not imported is a failure, though it was broadcast.
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

/** Names the fork of an SSZ body by the slot of the block in it where no header does. */
function versionedBySlot(config: ChainForkConfig, { parseReqSsz }: RequestCodec): RequestCodec {
  const header = VERSION_HEADER.toLowerCase();
  return {
    parseReqSsz: (request) => {
      const version = request.headers[header]?.toLowerCase() ?? config.getForkName(slotInSsz(request.body));
      return parseReqSsz?.({ ...request, headers: { ...request.headers, [header]: version } });
    },
  };
}

/** A signed block begins with the place of its message, behind the signature; contents begin with the place of the block. */
const MESSAGE_AT = 4 + 96;

function slotInSsz(bytes: Uint8Array): Slot {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = view.byteLength < 4 ? 0 : view.getUint32(0, true);
  const slotAt = first === MESSAGE_AT ? first : first + MESSAGE_AT;
  if (slotAt + 8 > view.byteLength) throw new Error("it is too short to be a signed block.");
  return Number(view.getBigUint64(slotAt, true));
}

function requireVersionOf({ config }: BeaconChain, { message }: AnySignedBlock, given: ForkName | undefined): void {
  requireVersion(given, config.getForkName(message.slot));
}

function statusOf({ imported }: Publication): { status: number } {
  return { status: imported ? HttpStatusCode.OK : HttpStatusCode.ACCEPTED };
}

/** The block passed the gossip rules; it may still have turned out not to be a valid block. */
type Publication = { imported: true } | { imported: false; rejection: BlockRejection };

/**
 * Takes a signed block from outside: first the gossip rules, then the import. It is broadcast as soon as it has passed
 * the rules of that level; by default they are those of gossip, and no level asks for less than a network takes.
 */
async function publish(
  { chain, broadcast }: Pick<ApiContext, "chain" | "broadcast">,
  contents: SignedBlockContents,
  level: BroadcastValidation = BroadcastValidation.gossip,
): Promise<Publication> {
  const arrivedAt = chain.clock.nowSeconds();
  const signed = contents.signedBlock;
  const mustBeOnly = level === BroadcastValidation.consensusAndEquivocation;
  const mustBeImported = mustBeOnly || level === BroadcastValidation.consensus;
  requireSynced(chain);
  const isHeld = await isHeldAlready(chain, signed);
  if (mustBeOnly || !isHeld) await refuseEquivocation(chain, signed);
  if (isHeld) return { imported: true };
  requireBlobs(chain, contents);
  const { slot } = signed.message;
  const root = rootOf(chain, signed.message);
  const mayBeNew = await requireGossipRules(chain, signed, () => checkGossipBlock(chain.validation, signed));
  const sidecars = await rightSidecars(chain, contents);
  const send = async () => {
    // Noted only now: in the place of a block that is never published, the proposer may still publish another one.
    const note = () => markBlockSeen(chain.validation, signed.message, root);
    const isNew = mayBeNew && (await requireGossipRules(chain, signed, note));
    chain.sidecars.note(sidecars);
    if (isNew) chain.events.publish("blockGossip", { slot, root, signed });
    broadcast.block(signed);
    if (sidecars.length > 0) broadcast.sidecars(sidecars);
  };
  // The data is stored before the block is imported, and no block goes out whose blobs peers could not fetch.
  chain.sidecars.hold(sidecars);
  if (!mustBeImported) await send();
  const rejection = await importOf(chain, signed, arrivedAt);
  if (mustBeImported) {
    // The rules of consensus leave out what only the execution engine can tell.
    if (rejection && !isWaitingForEngine(rejection)) throw refused(rejection.message);
    // Another one may have been imported by then.
    if (mustBeOnly) await refuseEquivocation(chain, signed);
    await send();
  }
  return rejection ? { imported: false, rejection } : { imported: true };
}

/** Null when the block was imported. */
async function importOf(
  chain: BeaconChain,
  signed: SignedBeaconBlock,
  arrivedAt: number,
): Promise<BlockRejection | null> {
  try {
    await chain.importBlock(signed, { arrivedAt });
    return null;
  } catch (error) {
    if (!(error instanceof BlockRejection)) throw error;
    if (isNodeStopping(error)) throw error.cause;
    return error;
  }
}

/**
 * Has the builder complete the block with its payload. It broadcasts the block, too, so what can be told without the payload
 * is judged before it gets the block, and no other block of the proposer passes from then on.
 */
async function publishThroughBuilder(
  context: Pick<ApiContext, "chain" | "broadcast">,
  signed: SignedBlindedBeaconBlock,
  level: BroadcastValidation = BroadcastValidation.gossip,
): Promise<{ status: number }> {
  const { chain } = context;
  const builder = requireBuilder(chain, signed);
  requireSynced(chain);
  if (await isHeldAlready(chain, signed)) return statusOf({ imported: true });
  await requireGossipRules(chain, signed, () => checkGossipBlock(chain.validation, signed));
  if (level !== BroadcastValidation.gossip) await requireTransition(chain, signed);
  await refuseEquivocation(chain, signed);
  const root = rootOf(chain, signed.message);
  await requireGossipRules(chain, signed, () => markBlockExpected(chain.validation, signed.message, root));
  if (isForkPostFulu(chain.config.getForkName(signed.message.slot))) {
    await letBuilderPublish(builder, signed);
    return { status: HttpStatusCode.ACCEPTED };
  }
  const contents = await revealedContents(chain.config, builder, signed);
  return statusOf(await publish(context, contents, level));
}

async function requireTransition(chain: BeaconChain, signed: SignedBlindedBeaconBlock): Promise<void> {
  const { config, states, validation } = chain;
  try {
    await verifyBlindedBlock(signed, { config, states, bls: validation.bls });
  } catch (error) {
    if (error instanceof BlockRejection) throw refused(error.message);
    throw error;
  }
}

/**
 * The gossip rules know the first block of a proposer that they saw since the start; the chain may hold others, of before it or that
 * came another way.
 */
async function refuseEquivocation(chain: BeaconChain, signed: AnySignedBlock): Promise<void> {
  const { message } = signed;
  const root = rootOf(chain, message);
  const atSlot = await chain.blocks.atSlot(message.slot);
  const other = atSlot.find((block) => {
    return block.root !== root && block.signed.message.proposerIndex === message.proposerIndex;
  });
  if (other === undefined) return;
  await requireGossipRules(chain, signed, () => reportConflict(chain.validation, signed, other.root));
  throw refused(
    `Validator ${message.proposerIndex} has already proposed another block for slot ${message.slot} (${other.root}, now ` +
      `${root}).`,
  );
}

/** Whether the block is the first that the rules saw of it, as `judge` says. */
async function requireGossipRules(chain: BeaconChain, signed: AnySignedBlock, judge: () => unknown): Promise<boolean> {
  try {
    await judge();
    return true;
  } catch (error) {
    if (!(error instanceof GossipRefusal)) throw error;
    if (!error.known) throw refused(rejectionReason(signed, error.message));
    // A block that was seen but is not held may be on its way in, or failed to be imported: the import knows. It was
    // recognised by its root, which does not cover the signature.
    if (!(await isSignedByProposer(chain, signed))) throw refused(notSigned(signed));
    return false;
  }
}

/** A message has one valid signature only, so a block with another one than the block held is not that block. */
async function isHeldAlready(chain: BeaconChain, signed: AnySignedBlock): Promise<boolean> {
  const { blocks, forkChoice } = chain;
  const root = rootOf(chain, signed.message);
  // It may be in the database nevertheless.
  if (forkChoice.isInvalid(root)) throw refused(`The execution payload of the block ${root} is invalid.`);
  const held = await blocks.signedByRoot(root);
  if (held === null) return false;
  if (Buffer.compare(held.signature, signed.signature) === 0) return true;
  throw refused(notSigned(signed));
}

/** A block has the same root without its payload. */
function rootOf({ config }: Pick<BeaconChain, "config">, message: AnySignedBlock["message"]): RootHex {
  return toRootHex(blindedOrFullBlockHashTreeRoot(config, message));
}

function isSignedByProposer({ config, validation }: BeaconChain, signed: AnySignedBlock): Promise<boolean> {
  return validation.bls.verify([getBlockProposerSignatureSet(config, signed)]);
}

function notSigned({ message }: AnySignedBlock): string {
  return `The block of slot ${message.slot} is not signed by validator ${message.proposerIndex}.`;
}

/** A block that only waits for the execution engine is none that was rejected. */
function notImported(rejection: BlockRejection) {
  if (!isWaitingForEngine(rejection)) return refused(rejection.message);
  return unavailable(`The block was broadcast, but is not imported yet. ${rejection.message}`);
}
