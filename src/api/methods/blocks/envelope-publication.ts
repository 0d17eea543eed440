import { HttpStatusCode, routes } from "@lodestar/api";
import { ForkName } from "@lodestar/params";
import { type gloas, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { bidOf } from "../../../chain/blocks/bid.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { BlobsAndProofs } from "../../../chain/data/data-availability.ts";
import { BlockRejection, isNodeStopping, isWaitingForEngine } from "../../../chain/import/block-rejection.ts";
import { GossipValidationError } from "../../../chain/validation/outcome.ts";
import { ValidatedEnvelope } from "../../../chain/validation/payloads/envelope.ts";
import type { DataSidecar } from "../../../data/sidecar.ts";
import { invalidParams, rejected } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { defineOperation, optional, post, required } from "../../definition.ts";
import { broadcastValidation } from "../../params/common.ts";
import { CONSENSUS_VERSION, requireVersion } from "../../params/consensus-version.ts";
import { boolean } from "../../params/scalars.ts";
import { readSszJson, rejectionReason, requireObject, sszPayload, TOP_LEVEL } from "../../params/ssz-payload.ts";
import { refuseBeforeGloas, requireSynced } from "../../preconditions.ts";
import { list, object, oneOf, shape } from "../../schemas.ts";
import { createSidecars, requireBlobCount } from "./published-blobs.ts";

const { BroadcastValidation } = routes.beacon;
type BroadcastValidation = routes.beacon.BroadcastValidation;

type Envelope = gloas.SignedExecutionPayloadEnvelope;
type Contents = gloas.SignedExecutionPayloadEnvelopeContents;

/** Only an envelope with blobs is wrapped. */
const ENVELOPE_MEMBER = "signed_execution_payload_envelope";

const envelopeOrContents = sszPayload<Envelope | Contents>(
  "a signed execution payload envelope",
  (json) =>
    Object.hasOwn(requireObject(json, TOP_LEVEL), ENVELOPE_MEMBER)
      ? readSszJson(ssz.gloas.SignedExecutionPayloadEnvelopeContents, json)
      : readSszJson(ssz.gloas.SignedExecutionPayloadEnvelope, json),
  oneOf(
    shape("SignedExecutionPayloadEnvelope"),
    object({
      [ENVELOPE_MEMBER]: shape("SignedExecutionPayloadEnvelope"),
      kzg_proofs: list(shape("Bytes")),
      blobs: list(shape("Bytes")),
    }),
  ),
);

const publishExecutionPayloadEnvelope = defineOperation("beacon.publishExecutionPayloadEnvelope", {
  name: "post_v1_beacon_execution_payload_envelopes",
  summary:
    "Publishes the envelope with the payload of a block. Returns 200 if it was broadcast and imported, 202 if it was only " +
    "broadcast.",
  params: {
    signedEnvelopeOrContents: required(
      envelopeOrContents,
      "An envelope signed by its builder or proposer, with the blobs of the block unless this node built the payload.",
      { name: "signed_envelope_or_contents" },
    ),
    broadcastValidation: optional(
      broadcastValidation,
      "Validation that the envelope must pass before it is broadcast; otherwise it is rejected. Default: gossip.",
    ),
    consensusVersion: CONSENSUS_VERSION,
    blobDataIncluded: optional(boolean, "Whether the blobs are included.", {
      header: {
        name: "Eth-Blob-Data-Included",
        isRequired: true,
        inferFrom: (body) => String(body.includes(`"${ENVELOPE_MEMBER}"`)),
      },
    }),
  },
  result: { name: "status", schema: { type: "integer", enum: [200, 202] } },
  failures: ["unavailable", "rejected"],
  rest: [post("/eth/v1/beacon/execution_payload_envelopes", { ssz: "body" })],
  cost: "duty",
  access: "submit",
  since: ForkName.gloas,
  example: {
    stage: "publish",
    params: async (chain) => [await chain.signedEnvelope(), "consensus", ForkName.gloas, false],
  },
  resultForStatus: (status) => status,
  async handler(context, { signedEnvelopeOrContents, broadcastValidation, consensusVersion, blobDataIncluded }) {
    const { config } = context.chain;
    const contents = "message" in signedEnvelopeOrContents ? undefined : signedEnvelopeOrContents;
    const signed = contents?.signedExecutionPayloadEnvelope ?? (signedEnvelopeOrContents as Envelope);
    const { slotNumber } = signed.message.payload;
    refuseBeforeGloas(config, slotNumber, "Execution payload envelopes");
    requireVersion(consensusVersion, config.getForkName(slotNumber));
    if (blobDataIncluded !== undefined && blobDataIncluded !== (contents !== undefined)) {
      throw invalidParams(
        `blob_data_included, or the Eth-Blob-Data-Included header in REST, is ${blobDataIncluded}, but the envelope was ` +
          `sent ${contents ? "with" : "without"} blobs.`,
      );
    }
    const blobs = contents && { blobs: contents.blobs, proofs: contents.kzgProofs };
    const isImported = await publish(context, { signed, blobs }, broadcastValidation);
    return { status: isImported ? HttpStatusCode.OK : HttpStatusCode.ACCEPTED };
  },
});

export const envelopePublicationMethods = [publishExecutionPayloadEnvelope] as const;

interface Publication {
  signed: Envelope;
  /** Undefined if this node is to attach them. */
  blobs: BlobsAndProofs | undefined;
}

/**
 * Validates an envelope according to the gossip rules, broadcasts it with the sidecars of its block and imports it.
 * Returns true if it was imported. The validation level determines whether the broadcast comes before or after the
 * import.
 */
async function publish(
  { chain, broadcast }: Pick<ApiContext, "chain" | "broadcast">,
  { signed, blobs }: Publication,
  level: BroadcastValidation = BroadcastValidation.gossip,
): Promise<boolean> {
  const arrivedAt = chain.clock.nowSeconds();
  const mustBeUnique = level === BroadcastValidation.consensusAndEquivocation;
  const mustBeImported = mustBeUnique || level === BroadcastValidation.consensus;
  const root = toRootHex(signed.message.beaconBlockRoot);
  requireSynced(chain);
  // The block may have been published just before.
  await chain.untilImportEnds(root);
  const validated = await requireGossipRules(chain, signed);
  const block = await chain.blocks.signedByRoot(root);
  if (mustBeUnique && block) await rejectEquivocation(chain, block, root);
  const sidecars = block ? await sidecarsOf(chain, block, root, blobs) : [];
  const send = () => {
    const isNew = validated !== undefined && !chain.pools.seen.payloads.hasEnvelope(signed.message);
    chain.pools.seen.payloads.addEnvelope(signed.message);
    chain.sidecars.announce(sidecars);
    if (sidecars.length > 0) broadcast.sidecars(sidecars);
    if (isNew) broadcast.payload(signed);
  };
  // Peers may request the sidecars as soon as the envelope is broadcast, and the import needs them as well.
  chain.sidecars.addToPool(sidecars);
  if (!mustBeImported) send();
  const rejection = await tryImport(chain, validated ?? signed, arrivedAt);
  if (mustBeImported) {
    // Consensus validation does not include the execution engine's verdict.
    if (rejection && !isWaitingForEngine(rejection)) throw envelopeRejected(rejection.message);
    // A different block by the same proposer may have been imported in the meantime.
    if (mustBeUnique && block) await rejectEquivocation(chain, block, root);
    send();
  }
  return rejection === null;
}

/** Imports a payload. Returns the rejection, or null if the payload was imported. */
async function tryImport(
  chain: BeaconChain,
  envelope: Envelope | ValidatedEnvelope,
  arrivedAt: number,
): Promise<BlockRejection | null> {
  try {
    await chain.importPayload(envelope, { arrivedAt, waitsForData: false });
    return null;
  } catch (error) {
    if (!(error instanceof BlockRejection)) throw error;
    if (isNodeStopping(error)) throw error.cause;
    return error;
  }
}

/** Throws if the envelope violates the gossip rules. Returns undefined if it was seen before. */
async function requireGossipRules(chain: BeaconChain, signed: Envelope): Promise<ValidatedEnvelope | undefined> {
  try {
    return await ValidatedEnvelope.validate(chain.validation, signed);
  } catch (error) {
    if (!(error instanceof GossipValidationError)) throw error;
    if (!error.known) throw envelopeRejected(rejectionReason(signed, error.message));
    // Its import may have failed. A second import returns the outcome.
    return undefined;
  }
}

/**
 * Returns the sidecars of the envelope's block, from the blobs that were published or that the node has built. None are
 * returned if all that are needed are there.
 */
async function sidecarsOf(
  chain: BeaconChain,
  block: SignedBeaconBlock,
  root: RootHex,
  published: BlobsAndProofs | undefined,
): Promise<DataSidecar[]> {
  const bid = bidOf(block.message);
  const built = published ? undefined : bid && chain.producer.builtPayload(toRootHex(bid.blockHash))?.blobsBundle;
  const { blobs, proofs } = published ?? built ?? NO_BLOBS;
  if (!published && !built && chain.data.missing({ signed: block, root }).length === 0) return [];
  if (!published && !built) {
    throw envelopeRejected(
      "The block has blobs, but this node did not build its payload: send the envelope with the blobs and proofs.",
    );
  }
  const contents = { signedBlock: block, blobs: [...blobs], kzgProofs: [...proofs] };
  requireBlobCount(chain, contents);
  return createSidecars(chain, contents);
}

const NO_BLOBS: BlobsAndProofs = { blobs: [], proofs: [] };

/** Throws if the block's proposer has another block in the slot. */
async function rejectEquivocation(chain: BeaconChain, { message }: SignedBeaconBlock, root: RootHex): Promise<void> {
  const { slot, proposerIndex } = message;
  const atSlot = await chain.blocks.atSlot(slot);
  const other = atSlot.find((block) => block.root !== root && block.signed.message.proposerIndex === proposerIndex);
  if (other === undefined) return;
  throw envelopeRejected(
    `Validator ${proposerIndex} has proposed two blocks for slot ${slot}: ${root} and ${other.root}.`,
  );
}

/** Returns the error for a rejected envelope. */
function envelopeRejected(reason: string) {
  return rejected(`The envelope was rejected: ${reason}`, { detail: reason });
}
