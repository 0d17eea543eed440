import { EventEmitter, once } from "node:events";
import type { Type } from "@chainsafe/ssz";
import { DOMAIN_BEACON_PROPOSER } from "@lodestar/params";
import { type BlindedBeaconBlock, type bellatrix, type SignedBlindedBeaconBlock, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect } from "vitest";
import { DEFAULT_BUILDER_SETTINGS } from "../../src/chain/production/builder-settings.ts";
import type { DevFork, ScheduledFork } from "../../src/dev/forks.ts";
import { DEV_GAS_LIMIT } from "../../src/execution/dev-payload.ts";
import { Caller } from "../support/api/caller.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { FakeKzg } from "../support/data/kzg/fake-kzg.ts";
import { MockBuilder, signedRegistration } from "./mock-builder.ts";

export const BLOCK = "get_v3_validator_blocks_slot";
const REGISTER = "post_v1_validator_register_validator";
/** Slot of the chain when it is opened. */
export const HEAD = 3;
export const ALWAYS_BUILDER = String(2n ** 64n - 1n);

/** A chain with manual validators and a builder to register with. */
export class ChainWithBuilder {
  readonly builder: MockBuilder;
  readonly opened: OpenedDevChain;
  readonly caller: Caller;
  readonly #byHand: ByHand;
  /** Fires the last pending timeout: of a bid, or of the local payload. */
  endTime: () => void = () => {};
  readonly #waits = new EventEmitter();

  static open(fork: DevFork): Promise<ChainWithBuilder> {
    return ChainWithBuilder.openAfter([{ fork, epoch: 0 }], HEAD);
  }

  /** The same for a chain with forks and another head. */
  static async openAfter(forks: readonly ScheduledFork[], head: number): Promise<ChainWithBuilder> {
    const builder = await MockBuilder.start();
    let chain: ChainWithBuilder | undefined;
    const timers = {
      unixNow: () => 0,
      sleep: (ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          if (!chain) return;
          chain.endTime = resolve;
          chain.#waits.emit(String(ms));
        }),
    };
    const opened = await startQuietDevChain(head, {
      forks,
      chainTuning: { kzg: new FakeKzg(), builderTimers: timers },
      builder: { ...DEFAULT_BUILDER_SETTINGS, url: builder.url },
    });
    chain = new ChainWithBuilder(builder, opened);
    return chain;
  }

  private constructor(builder: MockBuilder, opened: OpenedDevChain) {
    this.builder = builder;
    this.opened = opened;
    builder.chain = opened.devChain.chain;
    this.caller = new Caller(opened.devChain.api);
    this.#byHand = new ByHand(opened.devChain);
  }

  get devChain() {
    return this.opened.devChain;
  }

  get chain() {
    return this.devChain.chain;
  }

  /** Registers all validators, and waits until the builder has received them. */
  async register(gasLimit = DEV_GAS_LIMIT): Promise<void> {
    const { keys } = this.devChain;
    const signed = keys.indices.map((index) => signedRegistration(this.chain, keys.secretKey(index)!, gasLimit));
    const type = ssz.bellatrix.SignedValidatorRegistrationV1;
    const before = this.builder.registrations.length;
    expect(await this.caller.call(REGISTER, [signed.map((registration) => type.toJson(registration))])).toBe(true);
    await this.builder.until(() => this.builder.registrations.length === before + keys.count);
  }

  /** Resolves when a timer of this length is pending. */
  async untilWaitOf(ms: number): Promise<void> {
    await once(this.#waits, String(ms));
  }

  async nextSlot(): Promise<number> {
    const slot = this.devChain.clock.currentSlot + 1;
    await this.devChain.clock.advanceTo(slot);
    return slot;
  }

  /** The parameters of a call for a block of the current slot. */
  async params(...more: unknown[]): Promise<unknown[]> {
    const slot = this.devChain.clock.currentSlot;
    const { epochCtx } = await this.chain.states.afterBlock(this.chain.head.root, slot);
    return [slot, toHex(this.#byHand.signer.randaoReveal(epochCtx.getBeaconProposer(slot), slot)), ...more];
  }

  /** Response to a block request for the current slot. */
  async produce({ boostFactor }: { boostFactor?: string } = {}) {
    const params = await this.params("", false, ...(boostFactor === undefined ? [] : [boostFactor]));
    const meta = await this.caller.meta(BLOCK, params);
    return { isBlinded: meta?.execution_payload_blinded, value: meta?.execution_payload_value };
  }

  sign(blinded: unknown): { signed: SignedBlindedBeaconBlock; json: unknown } {
    const slot = this.devChain.clock.currentSlot;
    const types = this.devChain.config.getPostBellatrixForkTypes(slot);
    const type = types.BlindedBeaconBlock as Type<BlindedBeaconBlock>;
    const message = type.fromJson(blinded);
    const { signer } = this.#byHand;
    const signingRoot = signer.signingRoot(type, message, DOMAIN_BEACON_PROPOSER, slot);
    const signed = { message, signature: signer.sign(message.proposerIndex, signingRoot) } as SignedBlindedBeaconBlock;
    const signedType = types.SignedBlindedBeaconBlock as Type<SignedBlindedBeaconBlock>;
    return { signed, json: signedType.toJson(signed) };
  }

  /** The blinded block of the current slot, signed by its proposer. */
  async signedBlinded() {
    return this.sign(await this.caller.call(BLOCK, await this.params("", false, ALWAYS_BUILDER)));
  }

  async feeRecipientOfHead(): Promise<Uint8Array> {
    const { signed } = (await this.chain.blocks.byRoot(this.chain.head.root))!;
    return (signed as bellatrix.SignedBeaconBlock).message.body.executionPayload.feeRecipient;
  }

  async close(): Promise<void> {
    await this.opened.close();
    await this.builder.close();
  }
}
