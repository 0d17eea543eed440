import type { BeaconConfig } from "@lodestar/config";
import { type ForkName, type ForkPostBellatrix, ForkSeq, isForkPostBellatrix, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import {
  type altair,
  type BeaconBlock,
  type BeaconBlockBody,
  type BlindedBeaconBlock,
  type BuilderBid,
  type bellatrix,
  type capella,
  type deneb,
  type electra,
  type gloas,
  type RootHex,
  ssz,
  sszTypesFor,
  type ValidatorIndex,
} from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";
import type { BuiltPayload, ExecutionEngine, PayloadBlobs } from "../../execution/engine.ts";
import { describeValueFault } from "../../ssz/value-fault.ts";
import type { BidPreferences, ExecutionBids } from "../bids/execution-bids.ts";
import type { Eth1Proposal, Eth1Proposals } from "../eth1/eth1-proposals.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { mayMergeAt } from "../import/terminal-block-hash.ts";
import { hasEnvelope } from "../payloads/new-payload.ts";
import { type ParentPayloads, type PayloadBase, payloadBase } from "../payloads/parent-payloads.ts";
import { packAttestations } from "../pools/attestation-packing.ts";
import type { Pools } from "../pools/pools.ts";
import { processBlock } from "../states/advance.ts";
import type { StateStore } from "../states/state-store.ts";
import type { BlockRequest } from "./block-request.ts";
import type { BuilderBids } from "./builder-bids.ts";
import type { PayloadBuilder } from "./payload-builder.ts";
import { latestPayload, payloadRequest } from "./payload-request.ts";
import { ProducedCache } from "./produced-cache.ts";
import { payloadEnvelope, selfBuildBid } from "./self-build.ts";

interface BlockProducerParts {
  config: BeaconConfig;
  states: Pick<StateStore, "afterBlock">;
  engine: ExecutionEngine;
  payloadBuilder: PayloadBuilder;
  forkChoice: Pick<ForkChoice, "shouldBuildOnFull" | "payloadStatusOf">;
  parentPayloads: ParentPayloads;
  pools: Pick<Pools, "attestations" | "operations" | "syncCommittee" | "payloadAttestations">;
  /** Omitted if there is no builder. */
  bids?: BuilderBids;
  /** Bids of builders since gloas. */
  executionBids: Pick<ExecutionBids, "choose">;
  eth1: Eth1Proposals;
}

interface ProducedFacts {
  fork: ForkName;
  /** Payment to the fee recipient, in Wei. */
  executionPayloadValue: bigint;
  /** Consensus rewards of the proposer, in Wei. */
  consensusBlockValue: bigint;
}

export interface ProducedFullBlock extends ProducedFacts {
  isBlinded: false;
  block: BeaconBlock;
  root: RootHex;
  /** Post-state. */
  postState: CachedBeaconStateAllForks;
  /** Blobs of the block; omitted before Deneb. */
  blobsBundle?: PayloadBlobs;
  /** Since gloas: reveals the payload that the block's bid commits to. Omitted for the bid of a builder. */
  envelope?: gloas.ExecutionPayloadEnvelope;
}

/** Block with a builder's payload header. */
interface ProducedBlindedBlock extends ProducedFacts {
  isBlinded: true;
  block: BlindedBeaconBlock;
}

interface AssembledBlock extends ProducedFacts {
  block: BeaconBlock;
  postState: CachedBeaconStateAllForks;
}

/** The payload or bid of a block. The payload is null before bellatrix, and with the bid of a builder since gloas. */
interface BlockPayload {
  payload: BuiltPayload | BuilderBid | null;
  /** Since gloas. */
  base?: PayloadBase | undefined;
  /** Since gloas: bid of a builder, in place of a payload. */
  signedBid?: gloas.SignedExecutionPayloadBid | undefined;
}

/** A payload with what a bid for it is based on. */
export interface OfferablePayload {
  preState: CachedBeaconStateAllForks;
  base: PayloadBase;
  built: BuiltPayload;
}

type FeeRecipientOf = (proposer: ValidatorIndex) => Uint8Array;

export type ProducedBlock = ProducedFullBlock | ProducedBlindedBlock;

const WEI_PER_GWEI = 1_000_000_000n;

/** Number of hashes kept after their payloads were evicted. */
const KEPT_HASHES = 1024;

/** Produces blocks from the pools. Does not remove anything from the pools. */
export class BlockProducer {
  readonly #parts: BlockProducerParts;
  /** Keyed by block hash. A payload with its blobs takes several megabytes. */
  readonly #payloads = new ProducedCache<RootHex, BuiltPayload>();
  readonly #builtHashes = new LruMap<RootHex, true>(KEPT_HASHES);
  /** By block root: blocks with a self-built payload since gloas. */
  readonly #envelopes = new ProducedCache<RootHex, gloas.ExecutionPayloadEnvelope>();
  /** Keyed by block root. */
  readonly #postStates = new ProducedCache<RootHex, CachedBeaconStateAllForks>();

  constructor(parts: BlockProducerParts) {
    this.#parts = parts;
  }

  /**
   * Produces a block with a locally built payload or, since gloas, with the best bid of a builder if that is better. By
   * default, bids have the same weight as the local payload.
   */
  async produce(request: BlockRequest, preferences?: BidPreferences): Promise<ProducedFullBlock> {
    const preState = await this.#preState(request);
    const eth1 = await this.#parts.eth1.forBlock(preState);
    const base = await this.#baseFor(preState, request);
    const chosen = base
      ? await this.#parts.executionBids.choose(
          this.#buildGloasPayload(preState, request, base),
          { ...request, base },
          preferences,
        )
      : await this.#buildPayload(preState, request);
    const signedBid = chosen && "signature" in chosen ? chosen : undefined;
    const payload = chosen && "payload" in chosen ? chosen : null;
    return this.#toFullBlock(this.#assemble(preState, request, { payload, base, signedBid }, eth1), payload, request);
  }

  /** Builds a payload that a builder can offer for a block since gloas. `feeRecipient` receives the priority fees. */
  async buildToOffer(request: BlockRequest): Promise<OfferablePayload> {
    const preState = await this.#preState(request);
    const base = await this.#baseFor(preState, request);
    if (!base) throw new RangeError(`There are no bids for slot ${request.slot}, which is before gloas.`);
    return { preState, base, built: await this.#buildGloasPayload(preState, request, base) };
  }

  /**
   * Produces a block with the local payload or the builder's bid, whichever is better. Uses the configured boost factor
   * by default.
   */
  async produceBest(request: BlockRequest, boostFactor?: bigint): Promise<ProducedBlock> {
    const { bids, config } = this.#parts;
    // Since gloas, builders are part of the beacon chain.
    if (!bids || hasEnvelope(config, request.slot)) return this.produce(request);
    const preState = await this.#preState(request);
    const eth1 = await this.#parts.eth1.forBlock(preState);
    const payload = await bids.choose(this.#buildPayload(preState, request), preState, request, boostFactor);
    const assembled = this.#assemble(preState, request, { payload }, eth1);
    if (!isBid(payload)) return this.#toFullBlock(assembled, payload, request);
    const { block, postState: _, ...rest } = assembled;
    return { ...rest, isBlinded: true, block: block as BlindedBeaconBlock };
  }

  /**
   * Makes the engine start building a payload on top of a newly produced block while that block is being imported. Only
   * done within an epoch, because an epoch transition may change the request. Since gloas, `isRevealed` determines
   * whether to build on the block's own payload.
   */
  buildAhead(
    { block, root, postState, envelope }: ProducedFullBlock,
    feeRecipientOf: FeeRecipientOf,
    { isRevealed = true } = {},
  ): void {
    const { config, engine } = this.#parts;
    const slot = block.slot + 1;
    const fork = config.getForkName(slot);
    if (!engine.buildAhead || !isForkPostBellatrix(fork) || slot % SLOTS_PER_EPOCH === 0) return;
    // The payload of another builder is unknown until it is revealed.
    if (!envelope && hasEnvelope(config, block.slot)) return;
    const base = envelope ? baseAfter(postState, envelope, isRevealed) : { parent: latestPayload(postState) };
    const { parent } = base;
    if (!parent) return;
    const feeRecipient = feeRecipientOf(postState.epochCtx.getBeaconProposer(slot));
    const proposed = { ...base, parent, slot, parentRoot: root, feeRecipient };
    engine.buildAhead(payloadRequest(config, fork, postState, proposed));
  }

  /** Returns the post-state of a recently produced full block. */
  postState(root: RootHex): CachedBeaconStateAllForks | undefined {
    return this.#postStates.get(root);
  }

  /** Returns the envelope that reveals the payload of a recently produced block. */
  envelopeOf(root: RootHex): gloas.ExecutionPayloadEnvelope | undefined {
    return this.#envelopes.get(root);
  }

  #toFullBlock(assembled: AssembledBlock, payload: BuiltPayload | null, request: BlockRequest): ProducedFullBlock {
    const { block, postState } = assembled;
    const root = toRootHex(
      ssz.phase0.BeaconBlockHeader.hashTreeRoot({
        ...block,
        // The state transition has already hashed the body.
        bodyRoot: postState.latestBlockHeader.bodyRoot,
      }),
    );
    this.#postStates.set(root, postState, request);
    const produced = { ...assembled, isBlinded: false as const, root, blobsBundle: payload?.blobsBundle };
    if (!payload || !hasEnvelope(this.#parts.config, block.slot)) return produced;
    const envelope = payloadEnvelope({ root, parentRoot: block.parentRoot }, payload);
    this.#envelopes.set(root, envelope, request);
    return { ...produced, envelope };
  }

  #preState({ parentRoot, slot }: BlockRequest): Promise<CachedBeaconStateAllForks> {
    return this.#parts.states.afterBlock(parentRoot, slot);
  }

  /** Produces a blinded block for a bid. Throws if the block cannot be encoded. */
  #assemble(
    preState: CachedBeaconStateAllForks,
    request: BlockRequest,
    built: BlockPayload,
    eth1: Eth1Proposal,
  ): AssembledBlock {
    const { payload } = built;
    const { slot, parentRoot } = request;
    const fork = this.#parts.config.getForkName(slot);
    const block: BeaconBlock = {
      slot,
      proposerIndex: preState.epochCtx.getBeaconProposer(slot),
      parentRoot: fromHex(parentRoot),
      stateRoot: ssz.Root.defaultValue(),
      body: this.#assembleBody(preState, request, built, eth1),
    };
    const types = isBid(payload) ? this.#parts.config.getPostBellatrixForkTypes(slot) : null;
    const type = types?.BlindedBeaconBlock ?? this.#parts.config.getForkTypes(slot).BeaconBlock;
    const fault = describeValueFault(type, block);
    if (fault) throw new Error(`The block produced for slot ${slot} cannot be encoded: ${fault}.`);
    const postState = processBlock(preState, { message: block, signature: ssz.BLSSignature.defaultValue() });
    block.stateRoot = postState.hashTreeRoot();
    const { attestations, syncAggregate, slashing } = postState.proposerRewards;
    return {
      block,
      postState,
      fork,
      executionPayloadValue: payloadValueOf(built),
      consensusBlockValue: BigInt(attestations + syncAggregate + slashing) * WEI_PER_GWEI,
    };
  }

  /** Returns what a block since gloas is built on. */
  async #baseFor(
    preState: CachedBeaconStateAllForks,
    { slot, parentRoot: root, parentPayload }: BlockRequest,
  ): Promise<PayloadBase | undefined> {
    const { config, forkChoice, parentPayloads } = this.#parts;
    if (!hasEnvelope(config, slot)) return undefined;
    const preferred = { root, payloadStatus: forkChoice.payloadStatusOf(root) };
    const payloadStatus = parentPayload ?? (forkChoice.shouldBuildOnFull(preferred, slot) ? "full" : "empty");
    return parentPayloads.baseFor(preState, { root, payloadStatus });
  }

  async #buildGloasPayload(
    preState: CachedBeaconStateAllForks,
    request: BlockRequest,
    { parent, withdrawals, gasLimit }: PayloadBase,
  ): Promise<BuiltPayload> {
    const { config, engine, payloadBuilder } = this.#parts;
    const fork = config.getForkName(request.slot) as ForkPostBellatrix;
    // Engines that build at once keep their own gas limit.
    const targetGasLimit = request.targetGasLimit ?? (engine.buildsAtOnce ? undefined : Number(gasLimit));
    const proposed = { ...request, parent, withdrawals, targetGasLimit };
    const built = this.#keep(await payloadBuilder.build(payloadRequest(config, fork, preState, proposed)), request);
    return request.alterPayload?.(built) ?? built;
  }

  async #buildPayload(preState: CachedBeaconStateAllForks, request: BlockRequest): Promise<BuiltPayload | null> {
    const { config, engine, payloadBuilder } = this.#parts;
    const fork = config.getForkName(request.slot);
    if (!isForkPostBellatrix(fork)) return null;
    const parent = latestPayload(preState) ?? (mayMergeAt(config, request.slot) ? await engine.terminalBlock() : null);
    // Before the merge, a block has an empty payload.
    if (!parent) return { payload: sszTypesFor(fork).ExecutionPayload.defaultValue(), value: 0n };
    return this.#keep(
      await payloadBuilder.build(payloadRequest(config, fork, preState, { ...request, parent })),
      request,
    );
  }

  #keep(built: BuiltPayload, request: BlockRequest): BuiltPayload {
    const blockHash = toRootHex(built.payload.blockHash);
    this.#payloads.set(blockHash, built, request);
    this.#builtHashes.set(blockHash, true);
    return built;
  }

  /** Returns a recently built payload and its blobs by block hash, for proposers that sign only the hash. */
  builtPayload(blockHash: RootHex): BuiltPayload | undefined {
    return this.#payloads.get(blockHash);
  }

  /** Returns true if this node built the payload, even if it has been evicted. */
  wasBuilt(blockHash: RootHex): boolean {
    return this.#builtHashes.get(blockHash) === true;
  }

  #assembleBody(
    preState: CachedBeaconStateAllForks,
    { slot, parentRoot, randaoReveal, graffiti }: BlockRequest,
    { payload, base, signedBid }: BlockPayload,
    { eth1Data, deposits }: Eth1Proposal,
  ): BeaconBlockBody {
    const { config, pools } = this.#parts;
    const forkSeq = config.getForkSeq(slot);
    // Since gloas, the requests of the parent's payload are processed first. They can make an exit invalid.
    const operationState = base?.operationState ?? preState;
    const operations = pools.operations.forBlock(operationState);
    const body: BeaconBlockBody = {
      randaoReveal,
      eth1Data,
      graffiti,
      proposerSlashings: operations.proposerSlashings,
      attesterSlashings: operations.attesterSlashings,
      attestations: packAttestations(pools.attestations, operationState),
      deposits,
      voluntaryExits: operations.voluntaryExits,
    };
    if (forkSeq >= ForkSeq.altair) {
      (body as altair.BeaconBlockBody).syncAggregate = pools.syncCommittee.getSyncAggregate(slot - 1, parentRoot);
    }
    const ownBid = base && payload && !isBid(payload) && selfBuildBid(preState, { slot, parentRoot }, payload);
    const bid = signedBid ?? ownBid;
    if (base && bid) {
      const gloasBody = body as gloas.BeaconBlockBody;
      gloasBody.blsToExecutionChanges = operations.blsToExecutionChanges;
      gloasBody.signedExecutionPayloadBid = bid;
      gloasBody.payloadAttestations = pools.payloadAttestations.forBlock(slot, parentRoot);
      gloasBody.parentExecutionRequests = base.parentExecutionRequests;
      return gloasBody;
    }
    if (isBid(payload)) (body as bellatrix.BlindedBeaconBlockBody).executionPayloadHeader = payload.header;
    else if (payload) (body as bellatrix.BeaconBlockBody).executionPayload = payload.payload;
    if (forkSeq >= ForkSeq.capella) {
      (body as capella.BeaconBlockBody).blsToExecutionChanges = operations.blsToExecutionChanges;
    }
    if (forkSeq >= ForkSeq.deneb) {
      (body as electra.BeaconBlockBody).blobKzgCommitments = commitmentsOf(payload);
    }
    if (forkSeq >= ForkSeq.electra) {
      (body as electra.BeaconBlockBody).executionRequests =
        (payload as BuiltPayload | electra.BuilderBid | null)?.executionRequests ??
        ssz.electra.ExecutionRequests.defaultValue();
    }
    return body;
  }
}

/** Returns what a payload on a newly produced block is built on. */
function baseAfter(
  postState: CachedBeaconStateAllForks,
  { payload, executionRequests }: gloas.ExecutionPayloadEnvelope,
  isRevealed: boolean,
): Pick<PayloadBase, "parent" | "withdrawals"> {
  const { blockHash, blockNumber, parentHash } = payload;
  const { parent, withdrawals } = isRevealed
    ? payloadBase(postState, executionRequests, { blockHash, blockNumber })
    : payloadBase(postState, null, { blockHash: parentHash, blockNumber: blockNumber - 1 });
  return { parent, withdrawals };
}

function payloadValueOf({ payload, signedBid }: BlockPayload): bigint {
  return signedBid ? BigInt(signedBid.message.value) * WEI_PER_GWEI : (payload?.value ?? 0n);
}

function isBid(payload: BuiltPayload | BuilderBid | null): payload is BuilderBid {
  return payload !== null && "header" in payload;
}

function commitmentsOf(payload: BuiltPayload | BuilderBid | null): deneb.BlobKzgCommitments {
  if (isBid(payload)) return (payload as deneb.BuilderBid).blobKzgCommitments;
  return payload?.blobsBundle?.commitments ?? [];
}
