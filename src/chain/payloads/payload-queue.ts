import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { gloas, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SerialQueue } from "../../async/serial-queue.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { EngineUnavailableError, type ExecutionEngine } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import { timeInSlot } from "../clock/slot-timing.ts";
import type { PayloadVerdicts } from "../engine/payload-verdicts.ts";
import type { ChainEvents } from "../events.ts";
import type { PayloadVerification } from "../fork-choice/payloads/payload-verification.ts";
import { AwaitingData } from "../import/awaiting-data.ts";
import { attributeTo, BlockRejection, type InvalidPayloadRejection, isHeld } from "../import/block-rejection.ts";
import { invalidPayload, refuseEmptyTransactions, requestPayloadVerdict } from "../import/verify-payload.ts";
import type { StateStore } from "../states/state-store.ts";
import { ValidatedEnvelope } from "../validation/payloads/envelope.ts";
import { faultOfEnvelope, verifyEnvelopeSignature } from "./envelope-verification.ts";
import { payloadInEnvelope } from "./new-payload.ts";
import { PayloadArrivals } from "./payload-arrivals.ts";
import { PayloadCommitter, type PayloadCommitterParts, type PayloadToCommit } from "./payload-committer.ts";
import { type ArrivedEnvelope, WaitingEnvelopes } from "./waiting-envelopes.ts";

interface PayloadQueueParts extends PayloadCommitterParts {
  clock: Clock;
  blocks: BlockStore;
  states: StateStore;
  bls: BlsVerifier;
  engine: ExecutionEngine;
  payloads: PayloadVerification;
  verdicts: PayloadVerdicts;
  events: ChainEvents;
  logger: Logger;
  /** Queue that serializes all changes to the chain. */
  changes: SerialQueue;
  /** Updates head and finality after a payload was imported. */
  settle(): Promise<void>;
}

export interface EnvelopeArrival {
  /** Arrival in chain time. Default: now. */
  arrivedAt?: number;
  /** Whether to wait for missing data up to a deadline; defaults to true. The payload stays pending in either case. */
  waitsForData?: boolean;
}

export interface ImportedPayload {
  /** Root of the block. */
  root: RootHex;
  /** True if the payload was already known. */
  known: boolean;
}

/** An envelope that matches its block. */
type MatchingPayload = Omit<PayloadToCommit, "verdict">;

/** Share of a slot in basis points. */
const BASIS_POINTS = 10_000;

/**
 * Imports the payloads of blocks since gloas: checks that the envelope matches its block and is signed by the builder,
 * waits for the block's data, has the execution engine verify the payload, and commits it. An envelope can arrive before
 * its block and long after. It is held while its block is unknown and while the engine is unreachable.
 */
export class PayloadQueue {
  readonly #parts: PayloadQueueParts;
  readonly #committer: PayloadCommitter;
  readonly #awaitingBlock = new WaitingEnvelopes();
  readonly #awaitingEngine = new WaitingEnvelopes();
  readonly #awaitingData: AwaitingData<MatchingPayload>;
  readonly #arrivals = new PayloadArrivals();
  /** Imports in progress, by block root. */
  readonly #importing = new Map<RootHex, Promise<ImportedPayload>>();
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(parts: PayloadQueueParts) {
    this.#parts = parts;
    this.#committer = new PayloadCommitter(parts);
    this.#awaitingData = new AwaitingData({
      ...parts,
      commit: async (matching) => Number(await this.#verifyAndCommit(matching)),
    });
    this.#stopListening = parts.events.on("block", ({ root }) => {
      for (const envelope of this.#awaitingBlock.take(root)) void this.#retry(envelope);
    });
  }

  /** True if an envelope for the block waits for the block, its data or the execution engine. */
  isWaiting(root: RootHex): boolean {
    return this.#awaitingBlock.has(root) || this.#awaitingEngine.has(root) || this.#awaitingData.has(root);
  }

  /** True if the payload of a recent block arrived before the payload deadline. */
  isTimely(root: RootHex): boolean {
    return this.#arrivals.isTimely(root);
  }

  /** is_data_available (gloas/fork-choice.md): true once all data of the block that this node samples has arrived. */
  isDataAvailable({ signed, root }: { signed: SignedBeaconBlock; root: RootHex }): boolean {
    const { forkChoice, data } = this.#parts;
    return forkChoice.isPayloadVerified(root) || data.missing({ signed, root }).length === 0;
  }

  /**
   * Verifies and imports the payload of a block. Throws a `BlockRejection` attributed to the block. The signature of a
   * `ValidatedEnvelope` is not verified again.
   */
  importEnvelope(
    envelope: gloas.SignedExecutionPayloadEnvelope | ValidatedEnvelope,
    { arrivedAt = this.#parts.clock.nowSeconds(), waitsForData = true }: EnvelopeArrival = {},
  ): Promise<ImportedPayload> {
    const isSigned = envelope instanceof ValidatedEnvelope;
    const signed = isSigned ? envelope.signed : envelope;
    const root = toRootHex(signed.message.beaconBlockRoot);
    return this.#once(root, () => this.#import({ signed, root, arrivedAt }, { waitsForData, isSigned }));
  }

  /** Imports a payload revealed by this node, which matches its block and is signed. Its data is in the pool. */
  importOwn(
    signed: gloas.SignedExecutionPayloadEnvelope,
    { arrivedAt = this.#parts.clock.nowSeconds() }: Pick<EnvelopeArrival, "arrivedAt"> = {},
  ): Promise<ImportedPayload> {
    const root = toRootHex(signed.message.beaconBlockRoot);
    return this.#once(root, async () => {
      const block = await this.#parts.blocks.signedByRoot(root);
      if (!block) throw unknownBlock(root);
      const matching = { signed: block, root, envelope: signed };
      this.#accept(matching, arrivedAt);
      return { root, known: !(await this.#verifyAndCommit(matching)) };
    });
  }

  /** Retries envelopes waiting for the execution engine. Never rejects. */
  async retryWaiting(): Promise<void> {
    for (const envelope of this.#awaitingEngine.takeAll()) await this.#retry(envelope);
  }

  onSlot(slot: number): void {
    this.#arrivals.onSlot(slot);
    this.#awaitingBlock.prune(computeStartSlotAtEpoch(this.#parts.forkChoice.finalized.epoch));
  }

  /** Drops payloads whose blocks finality has passed. */
  dropUnfit(): void {
    this.#awaitingData.dropUnfit(({ root, signed }) => {
      if (!this.#parts.forkChoice.has(root)) throw finalized(root, signed.message.slot);
    });
  }

  /** Drops everything that waits. */
  dropAwaiting(): void {
    this.#awaitingBlock.clear();
    this.#awaitingEngine.clear();
    this.#awaitingData.dropAll();
  }

  capture() {
    return this.#arrivals.capture();
  }

  restore(arrivals: ReturnType<PayloadQueue["capture"]>): void {
    this.dropAwaiting();
    this.#arrivals.restore(arrivals);
  }

  /** Resolves when no import is in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    await this.#awaitingData.close();
    await Promise.allSettled(this.#importing.values());
    await this.#awaitingData.close();
  }

  /** A second envelope of a block has to wait for the outcome of the first. */
  #once(root: RootHex, run: () => Promise<ImportedPayload>): Promise<ImportedPayload> {
    const earlier = this.#importing.get(root);
    const importing = (earlier ?? Promise.resolve()).then(run, run).finally(() => {
      if (this.#importing.get(root) === importing) this.#importing.delete(root);
    });
    this.#importing.set(root, importing);
    return importing;
  }

  async #import(
    envelope: ArrivedEnvelope,
    { waitsForData, isSigned }: { waitsForData: boolean; isSigned: boolean },
  ): Promise<ImportedPayload> {
    const { root, signed } = envelope;
    const { data } = this.#parts;
    try {
      if (this.#isClosed) throw new BlockRejection("node-stopping", "The node is stopping; no payloads are imported.");
      const matching = await this.#match(envelope, isSigned);
      if (matching === null) return { root, known: true };
      const pending = this.#awaitingData.answerOf(root);
      if (pending === undefined && data.missing(matching).length === 0) {
        return { root, known: !(await this.#verifyAndCommit(matching)) };
      }
      const imported = this.#awaitingData.hold(matching);
      if (!waitsForData) data.requireAvailable(matching);
      return { root, known: (await imported) === 0 || pending !== undefined };
    } catch (error) {
      if (error instanceof BlockRejection) {
        if (error.reason === "unknown-block") this.#awaitingBlock.add(envelope);
        if (error.reason === "engine-unavailable") this.#awaitingEngine.add(envelope);
      }
      throw attributeTo(error, { slot: signed.message.payload.slotNumber, root });
    }
  }

  /**
   * Checks an envelope against its block (verify_execution_payload_envelope, without the execution). Returns null if
   * the payload is already known.
   */
  async #match({ signed, root, arrivedAt }: ArrivedEnvelope, isSigned: boolean): Promise<MatchingPayload | null> {
    const { config, bls, blocks, states, forkChoice, logger } = this.#parts;
    const node = forkChoice.get(root);
    const block = node && (await blocks.signedByRoot(root));
    if (!node || !block) throw this.#unknown(root, signed);
    if (node.bid === undefined) {
      throw new BlockRejection("invalid-envelope", `Block ${root} of slot ${node.slot} is from before gloas.`);
    }
    const isKnown = node.execution.status !== "absent";
    // A builder can sign several envelopes for a block.
    if (isKnown && toRootHex(signed.message.payload.blockHash) === node.bid.blockHash) return null;
    const state = await states.afterBlock(root);
    const fault = faultOfEnvelope(config, state, signed.message);
    if (fault !== undefined) {
      logger.info("Rejected payload that does not match its block", { slot: node.slot, root, fault });
      throw new BlockRejection("invalid-envelope", `The envelope does not match block ${root}: ${fault}`);
    }
    if (!isSigned && !(await verifyEnvelopeSignature(config, bls, state, signed))) {
      throw new BlockRejection("invalid-signature", `Invalid signature of the payload of block ${root}.`);
    }
    const matching = { signed: block, root, envelope: signed };
    this.#accept(matching, arrivedAt);
    return matching;
  }

  #unknown(root: RootHex, { message }: gloas.SignedExecutionPayloadEnvelope): BlockRejection {
    const { forkChoice } = this.#parts;
    const { slotNumber } = message.payload;
    const isFinal = slotNumber <= computeStartSlotAtEpoch(forkChoice.finalized.epoch);
    return isFinal ? finalized(root, slotNumber) : unknownBlock(root);
  }

  /** Records and announces an envelope that matches its block. */
  #accept({ signed, root, envelope }: MatchingPayload, arrivedAt: number): void {
    const { config, clock, events } = this.#parts;
    const { slot } = signed.message;
    const isTimely = arrivedAt < timeInSlot(clock, slot, config.PAYLOAD_DUE_BPS / BASIS_POINTS);
    this.#arrivals.record(root, { slot, isTimely });
    events.publish("payloadGossip", { slot, root, signed: envelope });
  }

  /** Has the engine verify a payload whose data is available. Returns false if it was imported by other means. */
  async #verifyAndCommit(matching: MatchingPayload): Promise<boolean> {
    const { config, engine, forkChoice, events } = this.#parts;
    const { signed, root, envelope } = matching;
    const { slot } = signed.message;
    events.publish("payloadAvailable", { slot, root });
    const newPayload = payloadInEnvelope(config, signed, envelope.message);
    refuseEmptyTransactions(slot, newPayload);
    const { retryBackoff, currentSlot } = forkChoice;
    if (retryBackoff.has(root) && !retryBackoff.isDue(root, currentSlot)) {
      throw new BlockRejection("invalid-payload", `The execution payload of block ${root} is known to be invalid.`);
    }
    const verdict = await requestPayloadVerdict(newPayload, engine).catch((error: unknown) => {
      if (!(error instanceof EngineUnavailableError)) throw error;
      const message = `The payload of the block at slot ${slot} cannot be verified now. ${error.message}`;
      throw new BlockRejection("engine-unavailable", message, error);
    });
    if (verdict.status === "invalid") {
      const parent = forkChoice.payloadBlock({ root, payloadStatus: "empty" });
      return this.#reject(root, invalidPayload(slot, parent?.root ?? root, verdict));
    }
    const { blockNumber } = newPayload.payload;
    return this.#commit({ ...matching, verdict: { status: verdict.status, blockNumber } });
  }

  /** An invalid payload can invalidate the payloads that it is built on. Its block stays valid, without a payload. */
  async #reject(root: RootHex, rejection: InvalidPayloadRejection): Promise<never> {
    const { changes, verdicts, events, settle, logger } = this.#parts;
    const { slot } = attributeTo(rejection, { slot: this.#parts.forkChoice.get(root)?.slot ?? 0, root });
    logger.warn("Execution engine rejected the payload of a block", { slot, root, message: rejection.message });
    events.publish("payloadInvalid", { root });
    await changes.run(async () => {
      if (await verdicts.applyRejection(root, rejection)) await settle();
    });
    throw rejection;
  }

  #commit(payload: PayloadToCommit): Promise<boolean> {
    const { changes, forkChoice, settle } = this.#parts;
    return changes.run(async () => {
      let isNew = false;
      // Readers see the payload and the new head at the same time.
      await forkChoice.revision.transaction(async () => {
        isNew = await this.#committer.commit(payload);
        if (!isNew) return;
        this.#announce(payload);
        await settle();
      });
      return isNew;
    });
  }

  #announce({ signed: { message: block }, root, envelope }: PayloadToCommit): void {
    const { events, payloads, logger } = this.#parts;
    const { payload, builderIndex } = envelope.message;
    const { slot } = block;
    logger.debug("Payload imported", { slot, root, number: payload.blockNumber });
    const executionOptimistic = payloads.isNodeOptimistic({ root, payloadStatus: "full" });
    events.publish("payload", {
      slot,
      root,
      blockHash: toRootHex(payload.blockHash),
      builderIndex,
      executionOptimistic,
    });
  }

  async #retry({ signed, root, arrivedAt }: ArrivedEnvelope): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.importEnvelope(signed, { arrivedAt });
    } catch (error) {
      const level = error instanceof BlockRejection && isHeld(error) ? "debug" : "warn";
      this.#parts.logger[level]("Waiting payload not imported", { root, error });
    }
  }
}

const unknownBlock = (root: RootHex): BlockRejection =>
  new BlockRejection("unknown-block", `The block ${root} of the execution payload is unknown.`);

const finalized = (root: RootHex, slot: number): BlockRejection =>
  new BlockRejection("finalized-slot", `The block ${root} of slot ${slot} is not after the finalized block.`);
