import { Signature, verifyMultipleAggregateSignatures } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  createCachedBeaconState,
  createPubkeyCache,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  getBlockSignatureSets,
  getSignatureSetPubkey,
  processSlots,
  SyncCommitteeCacheEmpty,
  stateTransition,
} from "@lodestar/state-transition";
import type { SignedBeaconBlock } from "@lodestar/types";
import type { RecordedChain } from "./record-chain.ts";

/** Lower bound of an import: transition with state root, and the signatures of a block in one batch. Stores nothing. */
export class LibraryImport {
  readonly #config: BeaconConfig;
  readonly #pubkeyCache = createPubkeyCache();
  readonly #signatures: boolean;
  #state: CachedBeaconStateAllForks;

  constructor({ config, genesisState }: RecordedChain, { signatures } = { signatures: true }) {
    this.#signatures = signatures;
    const view = config.getForkTypes(0).BeaconState.deserializeToViewDU(genesisState);
    this.#config = config;
    this.#state = createCachedBeaconState(view, { config, pubkeyCache: this.#pubkeyCache });
  }

  import(signed: SignedBeaconBlock): void {
    const preState = processSlots(this.#state, signed.message.slot);
    const postState = stateTransition(preState, signed, {
      verifyStateRoot: true,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    });
    if (this.#signatures && !this.#verifySignatures(signed, preState)) {
      throw new Error(`The block of slot ${signed.message.slot} has an invalid signature.`);
    }
    this.#state = postState;
  }

  #verifySignatures(signed: SignedBeaconBlock, preState: CachedBeaconStateAllForks): boolean {
    const { slot, body } = signed.message;
    const fork = this.#config.getForkSeq(slot);
    const { epochCtx } = preState;
    const sets = getBlockSignatureSets(
      this.#config,
      fork >= ForkSeq.altair ? epochCtx.currentSyncCommitteeIndexed : new SyncCommitteeCacheEmpty(),
      new BeaconStateView(preState),
      signed,
      body.attestations.map((attestation) => epochCtx.getIndexedAttestation(fork, attestation)),
    );
    return verifyMultipleAggregateSignatures(
      sets.map((set) => ({
        msg: set.signingRoot,
        pk: getSignatureSetPubkey(set, this.#pubkeyCache),
        sig: Signature.fromBytes(set.signature, true),
      })),
    );
  }
}
