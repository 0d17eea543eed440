import { DOMAIN_BEACON_PROPOSER } from "@lodestar/params";
import { getExecutionPayloadEnvelopeSigningRoot } from "@lodestar/state-transition";
import { type gloas, type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { ProducedFullBlock } from "../../../src/chain/production/block-producer.ts";
import { blockRequest } from "../../../src/chain/production/block-request.ts";
import type { DevTime } from "../../../src/dev/control/time.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { DutyFailures } from "../../../src/dev/validators/duty-failures.ts";
import type { BlockDelay, DutyPlan } from "../../../src/dev/validators/duty-plan.ts";
import { SlotSchedule } from "../../../src/dev/validators/duty-timing.ts";
import { LateBlocks } from "../../../src/dev/validators/late-blocks.ts";
import { LockstepDuties } from "../../../src/dev/validators/lockstep-duties.ts";
import { WithheldPayloads } from "../../../src/dev/validators/payloads/withheld-payloads.ts";
import { ValidatorSigner } from "../../../src/dev/validators/signer.ts";
import { SlashingProtection } from "../../../src/dev/validators/slashing-protection.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { createRecordingLogger } from "../log/recording-logger.ts";
import { type OpenedDevChain, openDevChain } from "./dev-chain.ts";

export const GLOAS: ScheduledFork[] = [{ fork: "gloas", epoch: 0 }];

/** A block with its payload, which the test publishes when it likes. */
export interface MadeBlock extends ProducedFullBlock {
  signed: SignedBeaconBlock;
  reveal: gloas.SignedExecutionPayloadEnvelope;
}

/** A gloas chain whose validators act when the test says so, according to any plan. */
export class GloasChain {
  readonly opened: OpenedDevChain;
  /** What the validators do in slots that start; undefined for nothing. */
  #plan: DutyPlan | undefined;
  readonly signer: ValidatorSigner;
  readonly duties: LockstepDuties;
  readonly late: LateBlocks;
  /** Records the duties that failed. */
  readonly logger = createRecordingLogger();

  constructor(opened: OpenedDevChain) {
    const { chain, clock, config, keys } = opened.devChain;
    this.opened = opened;
    this.signer = new ValidatorSigner(config, keys);
    this.late = new LateBlocks(clock, new AbortController().signal);
    this.duties = new LockstepDuties({
      chain,
      signer: this.signer,
      history: new SlashingProtection(),
      failures: new DutyFailures(this.logger),
      late: this.late,
      withheld: new WithheldPayloads(),
      schedule: new SlotSchedule(config, clock),
    });
    (opened.devChain.control.time as DevTime).onSlot(async (slot) => {
      if (this.#plan) await this.duties.act(slot, this.#plan);
      await this.late.publishBefore(clock.slotStartSeconds(slot + 1));
    });
  }

  static async open(options: Partial<DevNodeOptions> = {}, directory?: string): Promise<GloasChain> {
    return new GloasChain(await openDevChain({ speed: 0, activeValidators: [], forks: GLOAS, ...options }, directory));
  }

  get chain() {
    return this.opened.devChain.chain;
  }

  /** Status of the head: its slot, and whether its payload is part of the chain. */
  get head(): [slot: Slot, payloadStatus: string] {
    return [this.chain.head.slot, this.chain.headNode.payloadStatus];
  }

  /** Starts the next slot. */
  async nextSlot(): Promise<Slot> {
    await this.opened.devChain.control.time.advance({ slots: 1 });
    return this.opened.devChain.clock.currentSlot;
  }

  /** Starts further slots, in each of which all validators act. */
  async run(slots: number, plan: DutyPlan = {}): Promise<void> {
    this.#plan = plan;
    await this.opened.devChain.control.time.advance({ slots });
    this.#plan = undefined;
  }

  /** A time in the slot, as a share of it. */
  after(share: number, slots = 0): BlockDelay {
    return { slots, seconds: this.opened.devChain.clock.secondsPerSlot * share };
  }

  /** Makes a block of the current slot. */
  async make(parentRoot: RootHex = this.chain.head.root, parentPayload?: "empty" | "full"): Promise<MadeBlock> {
    const { chain, signer } = this;
    const slot = chain.clock.currentSlot;
    const proposer = (await chain.states.afterBlock(parentRoot, slot)).epochCtx.getBeaconProposer(slot);
    const randaoReveal = signer.randaoReveal(proposer, slot);
    const request = blockRequest(chain, proposer, { slot, parentRoot, parentPayload, randaoReveal });
    const produced = await chain.producer.produce(request);
    const { block, root, envelope, blobsBundle } = produced;
    const signature = signer.sign(proposer, signer.signingRoot(ssz.Root, fromHex(root), DOMAIN_BEACON_PROPOSER, slot));
    const signed = { message: block, signature };
    if (blobsBundle && blobsBundle.blobs.length > 0) {
      this.sidecars.set(root, await chain.data.sidecarsOf(signed, blobsBundle));
    }
    return { ...produced, signed, reveal: this.signEnvelope(envelope!, proposer) };
  }

  /** Sidecars of the blocks that were made, by block root. */
  readonly sidecars = new Map<
    RootHex,
    Awaited<ReturnType<OpenedDevChain["devChain"]["chain"]["data"]["sidecarsOf"]>>
  >();

  signEnvelope(message: gloas.ExecutionPayloadEnvelope, by: number): gloas.SignedExecutionPayloadEnvelope {
    const { config } = this.chain;
    return { message, signature: this.signer.sign(by, getExecutionPayloadEnvelopeSigningRoot(config, message)) };
  }
}
