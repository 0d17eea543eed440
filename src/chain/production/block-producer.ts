import type { BeaconConfig } from "@lodestar/config";
import { type ForkName, ForkSeq, isForkPostBellatrix } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  stateTransition,
} from "@lodestar/state-transition";
import {
  type altair,
  type BeaconBlock,
  type BeaconBlockBody,
  type BLSSignature,
  type bellatrix,
  type capella,
  type ExecutionPayload,
  type electra,
  type RootHex,
  type Slot,
  ssz,
} from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BuiltPayload, ExecutionEngine } from "../../execution/engine.ts";
import type { Eth1Proposal, Eth1Proposals } from "../eth1/eth1-proposals.ts";
import { LruMap } from "../lru-map.ts";
import { packAttestations } from "../pools/attestation-packing.ts";
import type { AttestationPool } from "../pools/attestation-pool.ts";
import type { OperationPool } from "../pools/operation-pool.ts";
import type { SyncCommitteePool } from "../pools/sync-committee-pool.ts";
import type { StateStore } from "../states/state-store.ts";
import { payloadRequest } from "./payload-request.ts";

/** What only the proposer and the head decide about a block; the rest comes from the pools. */
interface BlockRequest {
  slot: Slot;
  parentRoot: RootHex;
  randaoReveal: BLSSignature;
  graffiti: Uint8Array;
  feeRecipient: Uint8Array;
}

interface BlockProducerParts {
  config: BeaconConfig;
  states: StateStore;
  engine: ExecutionEngine;
  pools: { attestations: AttestationPool; operations: OperationPool; syncCommittee: SyncCommitteePool };
  eth1: Eth1Proposals;
}

export interface ProducedBlock {
  block: BeaconBlock;
  fork: ForkName;
  /** What the payload pays to the fee recipient, in Wei. */
  executionPayloadValue: bigint;
  /** What the chain pays to the proposer, in Wei. */
  consensusBlockValue: bigint;
}

const WEI_PER_GWEI = 1_000_000_000n;

/** A proposer signs within its slot. */
const KEPT_PAYLOADS = 4;

/** Builds a block on a parent out of what the pools hold. The pools keep what they gave. */
export class BlockProducer {
  readonly #parts: BlockProducerParts;
  readonly #payloads = new LruMap<RootHex, ExecutionPayload>(KEPT_PAYLOADS);

  constructor(parts: BlockProducerParts) {
    this.#parts = parts;
  }

  async produce(request: BlockRequest): Promise<ProducedBlock> {
    const { config, states, eth1 } = this.#parts;
    const { slot, parentRoot } = request;
    const preState = await states.afterBlock(parentRoot, slot);
    const proposal = await eth1.forBlock(preState);
    const fork = config.getForkName(slot);
    const payload = await this.#buildPayload(preState, request);
    const block: BeaconBlock = {
      slot,
      proposerIndex: preState.epochCtx.getBeaconProposer(slot),
      parentRoot: fromHex(parentRoot),
      stateRoot: ssz.Root.defaultValue(),
      body: this.#assembleBody(preState, request, payload, proposal),
    };
    const postState = stateTransition(
      preState,
      { message: block, signature: ssz.BLSSignature.defaultValue() },
      {
        verifyStateRoot: false,
        verifyProposer: false,
        verifySignatures: false,
        executionPayloadStatus: ExecutionPayloadStatus.valid,
        dataAvailabilityStatus: DataAvailabilityStatus.Available,
      },
    );
    block.stateRoot = postState.hashTreeRoot();
    const { attestations, syncAggregate, slashing } = postState.proposerRewards;
    return {
      block,
      fork,
      executionPayloadValue: payload?.value ?? 0n,
      consensusBlockValue: BigInt(attestations + syncAggregate + slashing) * WEI_PER_GWEI,
    };
  }

  async #buildPayload(preState: CachedBeaconStateAllForks, request: BlockRequest): Promise<BuiltPayload | null> {
    const { config, engine } = this.#parts;
    const fork = config.getForkName(request.slot);
    if (!isForkPostBellatrix(fork)) return null;
    const built = await engine.buildPayload(payloadRequest(config, fork, preState, request));
    this.#payloads.set(toRootHex(built.payload.blockHash), built.payload);
    return built;
  }

  /** A payload that was built lately, by its hash: what a proposer who was given the block without it leaves out. */
  builtPayload(blockHash: RootHex): ExecutionPayload | undefined {
    return this.#payloads.get(blockHash);
  }

  #assembleBody(
    preState: CachedBeaconStateAllForks,
    { slot, parentRoot, randaoReveal, graffiti }: BlockRequest,
    payload: BuiltPayload | null,
    { eth1Data, deposits }: Eth1Proposal,
  ): BeaconBlockBody {
    const { config, pools } = this.#parts;
    const forkSeq = config.getForkSeq(slot);
    const operations = pools.operations.forBlock(preState);
    const body: BeaconBlockBody = {
      randaoReveal,
      eth1Data,
      graffiti,
      proposerSlashings: operations.proposerSlashings,
      attesterSlashings: operations.attesterSlashings,
      attestations: packAttestations(pools.attestations, preState),
      deposits,
      voluntaryExits: operations.voluntaryExits,
    };
    if (forkSeq >= ForkSeq.altair) {
      (body as altair.BeaconBlockBody).syncAggregate = pools.syncCommittee.getSyncAggregate(slot - 1, parentRoot);
    }
    if (payload) (body as bellatrix.BeaconBlockBody).executionPayload = payload.payload;
    if (forkSeq >= ForkSeq.capella) {
      (body as capella.BeaconBlockBody).blsToExecutionChanges = operations.blsToExecutionChanges;
    }
    if (forkSeq >= ForkSeq.deneb) {
      (body as electra.BeaconBlockBody).blobKzgCommitments = payload?.blobsBundle?.commitments ?? [];
    }
    if (forkSeq >= ForkSeq.electra) {
      (body as electra.BeaconBlockBody).executionRequests =
        payload?.executionRequests ?? ssz.electra.ExecutionRequests.defaultValue();
    }
    return body;
  }
}
