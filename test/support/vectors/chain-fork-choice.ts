import { EFFECTIVE_BALANCE_INCREMENT, ForkSeq, SLOTS_PER_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import {
  computeStartSlotAtEpoch,
  getIndexedAttestationSignatureSet,
  getIndexedPayloadAttestationSignatureSet,
} from "@lodestar/state-transition";
import {
  type Attestation,
  type AttesterSlashing,
  type fulu,
  type gloas,
  type RootHex,
  type SignedBeaconBlock,
  sszTypesFor,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { WrongSidecarError } from "../../../src/chain/data/verify-sidecars.ts";
import type { ForkChoice } from "../../../src/chain/fork-choice/fork-choice.ts";
import { isViableLeaf } from "../../../src/chain/fork-choice/tree/viability.ts";
import type { ForkChoiceNode } from "../../../src/chain/fork-choice/types.ts";
import { committeePositions } from "../../../src/chain/import/fork-choice-import.ts";
import { attestationVotes } from "../../../src/chain/operation-processor.ts";
import { AttestationDataRules } from "../../../src/chain/validation/attestation-data.ts";
import { GossipValidationError } from "../../../src/chain/validation/outcome.ts";
import { subnetOfColumn } from "../../../src/data/custody.ts";
import { type ForkChoiceAnchor, type ForkChoiceSubject, PAYLOAD_STATUS } from "./fork-choice-steps.ts";
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
    if (!isSigned) throw refuse("The attestation is not signed.");
    // Gossip accepts votes of the current slot, which the specification's store does not.
    if (data.slot >= this.#chain.clock.currentSlot) throw refuse("The attestation is of the current slot.");
    forkChoice.onAttestation(attestationVotes(validation, data, indexed.attestingIndices), { isFromBlock: false });
    await this.#chain.refreshHead();
  }

  onAttesterSlashing(slashing: AttesterSlashing): Promise<void> {
    return this.#chain.processor.attesterSlashing(slashing, "gossip");
  }

  async onExecutionPayloadEnvelope(
    envelope: gloas.SignedExecutionPayloadEnvelope,
    columns?: gloas.DataColumnSidecar[],
  ): Promise<void> {
    if (columns && columns.length > 0) throw new Error("The columns of a payload are not delivered yet.");
    await this.#chain.importPayload(envelope, { waitsForData: false });
  }

  async onPayloadAttestationMessage(message: gloas.PayloadAttestationMessage): Promise<void> {
    const { config, validation, forkChoice, states, clock } = this.#chain;
    const { data, validatorIndex, signature } = message;
    const { slot, payloadPresent, blobDataAvailable } = data;
    const blockRoot = toRootHex(data.beaconBlockRoot);
    const block = forkChoice.get(blockRoot);
    if (!block) throw refuse("The payload attestation is for an unknown block.");
    // on_payload_attestation_message: without effect.
    if (block.slot !== slot) return;
    if (slot !== clock.currentSlot) throw refuse("The payload attestation is not of the current slot.");
    const { epochCtx } = await states.afterBlock(blockRoot);
    const positions = committeePositions(epochCtx.getPayloadTimelinessCommittee(slot), new Set([validatorIndex]));
    if (positions.length === 0) throw refuse("The validator is not in the payload timeliness committee.");
    const indexed = { attestingIndices: [validatorIndex], data, signature };
    const isSigned = await validation.bls.verify([getIndexedPayloadAttestationSignatureSet(config, indexed)]);
    if (!isSigned) throw refuse("The payload attestation is not signed.");
    forkChoice.onPayloadAttestation({ positions, slot, blockRoot, payloadPresent, blobDataAvailable });
    await this.#chain.refreshHead();
  }

  head() {
    const { head, headNode } = this.#chain;
    return { slot: head.slot, root: headNode.root, payloadStatus: PAYLOAD_STATUS[headNode.payloadStatus] };
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

  viableHeads() {
    const { forkChoice, config } = this.#chain;
    const { currentSlot } = forkChoice;
    const isGloas = config.getForkSeq(currentSlot) >= ForkSeq.gloas;
    return viableLeaves(forkChoice, { currentSlot, root: forkChoice.justified.root }).map(
      ({ root, payloadStatus }) => ({
        root,
        weight: Math.round(forkChoice.weightOf(root, payloadStatus) * EFFECTIVE_BALANCE_INCREMENT),
        ...(isGloas && { payloadStatus: PAYLOAD_STATUS[payloadStatus] }),
      }),
    );
  }

  payloadTimelinessVotes(root: RootHex) {
    return this.#chain.forkChoice.payloadVotesOf(root, "payloadPresent");
  }

  payloadDataAvailabilityVotes(root: RootHex) {
    return this.#chain.forkChoice.payloadVotesOf(root, "blobDataAvailable");
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

const refuse = (message: string) => new GossipValidationError("reject", "bad-signature", message);

/**
 * Leaves of get_filtered_block_tree below a block, from the tree's own queries. Since gloas, a block without viable
 * children on a variant is a leaf of that variant.
 */
function viableLeaves(
  forkChoice: ForkChoice,
  { currentSlot, root }: { currentSlot: number; root: RootHex },
): ForkChoiceNode[] {
  const block = forkChoice.get(root)!;
  const children = forkChoice.childrenOf(root).map((child) => ({
    status: forkChoice.parentPayloadStatus(child.root),
    leaves: viableLeaves(forkChoice, { currentSlot, root: child.root }),
  }));
  const { justified } = forkChoice;
  const isViable =
    children.length > 0
      ? children.some(({ leaves }) => leaves.length > 0)
      : isViableLeaf(block, { justified, currentSlot, slotsPerEpoch: SLOTS_PER_EPOCH }) &&
        forkChoice.isDescendantOfFinalized(root);
  if (!isViable) return [];
  const variants = block.bid === undefined ? ["full" as const] : ["empty" as const, "full" as const];
  const existing = variants.filter((status) => status === "empty" || !block.bid || forkChoice.isPayloadVerified(root));
  return existing.flatMap((payloadStatus) => {
    const leaves = children.filter(({ status }) => status === payloadStatus).flatMap((child) => child.leaves);
    return leaves.length > 0 ? leaves : [{ root, payloadStatus }];
  });
}
