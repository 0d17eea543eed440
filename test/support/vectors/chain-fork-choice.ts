import { ZERO_HASH_HEX } from "@lodestar/params";
import { computeStartSlotAtEpoch, getIndexedAttestationSignatureSet } from "@lodestar/state-transition";
import {
  type Attestation,
  type AttesterSlashing,
  type fulu,
  type RootHex,
  type SignedBeaconBlock,
  sszTypesFor,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { WrongSidecarError } from "../../../src/chain/data/verify-sidecars.ts";
import { AttestationDataRules } from "../../../src/chain/validation/attestation-data.ts";
import { GossipValidationError } from "../../../src/chain/validation/outcome.ts";
import { subnetOfColumn } from "../../../src/data/custody.ts";
import type { ForkChoiceAnchor, ForkChoiceSubject } from "./fork-choice-steps.ts";
import type { VectorCase } from "./vector-case.ts";
import { isRefusal, VectorChain } from "./vector-chain.ts";
import { vectorConfig } from "./vector-config.ts";

/** Signature of the anchor block, which vectors give without one. */
const NO_SIGNATURE = new Uint8Array(96);

/** The whole chain as the subject of fork choice vectors: import, validation, data availability, fork choice. */
export class ChainForkChoice implements ForkChoiceSubject {
  readonly isRefusal = isRefusal;
  readonly #vectorChain: VectorChain;

  static async open(vector: VectorCase, { fork, stateBytes, block }: ForkChoiceAnchor): Promise<ChainForkChoice> {
    const state = sszTypesFor(fork).BeaconState.deserializeToViewDU(stateBytes);
    const config = vectorConfig(vector, state.genesisValidatorsRoot);
    const signed = { message: block, signature: NO_SIGNATURE };
    return new ChainForkChoice(await VectorChain.open({ config, state, block: signed }));
  }

  private constructor(vectorChain: VectorChain) {
    this.#vectorChain = vectorChain;
  }

  close(): Promise<void> {
    return this.#vectorChain.close();
  }

  onTick(time: number): Promise<void> {
    return this.#vectorChain.stepTo(time);
  }

  async onBlock(signed: SignedBeaconBlock, columns: fulu.DataColumnSidecar[] = []): Promise<void> {
    await this.#receiveColumns(signed, columns);
    await this.#chain.importBlock(signed, { waitsForData: false });
  }

  /** Validates the data as gossip does, and verifies the signature. The vectors have aggregates without aggregator. */
  async onAttestation(attestation: Attestation): Promise<void> {
    const { config, validation, forkChoice, states } = this.#chain;
    const { data } = attestation;
    const blockRoot = toRootHex(data.beaconBlockRoot);
    await new AttestationDataRules(validation, "The attestation").check(data);
    const state = await states.afterBlock(blockRoot, computeStartSlotAtEpoch(data.target.epoch));
    const indexed = state.epochCtx.getIndexedAttestation(config.getForkSeq(data.slot), attestation);
    const isSigned = await validation.bls.verify([getIndexedAttestationSignatureSet(config, data.slot, indexed)]);
    if (!isSigned) throw new GossipValidationError("reject", "bad-signature", "The attestation is not signed.");
    const indices = indexed.attestingIndices;
    forkChoice.onAttestation(
      { indices, slot: data.slot, targetEpoch: data.target.epoch, blockRoot },
      { isFromBlock: false },
    );
    await this.#chain.refreshHead();
  }

  onAttesterSlashing(slashing: AttesterSlashing): Promise<void> {
    return this.#chain.processor.attesterSlashing(slashing, "gossip");
  }

  head() {
    const { slot, root } = this.#chain.head;
    return { slot, root };
  }

  time(): number {
    return this.#vectorChain.clock.nowSeconds();
  }

  genesisTime(): number {
    return this.#chain.genesis.time;
  }

  justifiedCheckpoint() {
    return this.#chain.forkChoice.justified;
  }

  finalizedCheckpoint() {
    return this.#chain.forkChoice.finalized;
  }

  proposerBoostRoot(): RootHex {
    return this.#chain.forkChoice.proposerBoostRoot ?? ZERO_HASH_HEX;
  }

  proposerHead(): RootHex {
    return this.#chain.proposerHead.parentFor(this.#chain.clock.currentSlot).root;
  }

  get #chain() {
    return this.#vectorChain.chain;
  }

  /**
   * Receives the columns from gossip, up to the first one that is refused and therefore missing at import. Verification
   * of requested columns, which checks all columns of a block together, must come to the same verdict.
   */
  async #receiveColumns(signed: SignedBeaconBlock, columns: fulu.DataColumnSidecar[]): Promise<void> {
    if (columns.length === 0) return;
    const { config, data } = this.#chain;
    const refusal = await this.#refusalOf(columns);
    const root = toRootHex(config.getForkTypes(signed.message.slot).BeaconBlock.hashTreeRoot(signed.message));
    const isWrong = await data.verify([{ block: { signed, root }, sidecars: columns }]).then(
      () => false,
      (error: unknown) => {
        if (error instanceof WrongSidecarError) return true;
        throw error;
      },
    );
    if (isWrong !== (refusal !== null)) throw new Error(`Only one of gossip and import refuses a column: ${refusal}`);
  }

  async #refusalOf(columns: fulu.DataColumnSidecar[]): Promise<GossipValidationError | null> {
    const { config, sidecars } = this.#chain;
    for (const column of columns) {
      try {
        await sidecars.process(column, subnetOfColumn(config, column.index));
      } catch (error) {
        if (error instanceof GossipValidationError) return error;
        throw error;
      }
    }
    return null;
  }
}
