import { isForkPostGloas, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  getExecutionPayloadBidSigningRoot,
  getExecutionPayloadEnvelopeSigningRoot,
  getPayloadAttestationDataSigningRoot,
  getProposerPreferencesSigningRoot,
} from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import type { ExampleChain } from "../../../src/api/example.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { builderKeys } from "../../../src/dev/builder-keys.ts";
import type { ByHand } from "../chain/by-hand.ts";
import type { Caller } from "./caller.ts";

type Json = Record<string, unknown>;

const {
  ExecutionPayloadBid,
  PayloadAttestationMessage,
  SignedExecutionPayloadBid,
  SignedExecutionPayloadEnvelope,
  SignedProposerPreferences,
} = ssz.gloas;

/** The parts of an example chain that are needed to sign objects. */
interface SigningExample extends Pick<ExampleChain, "fork" | "slot" | "epoch" | "signedBlock" | "signedBlockRoot"> {
  readonly chain: BeaconChain;
  readonly caller: Caller;
  readonly byHand: ByHand;
}

/** Signed objects since gloas for examples. On earlier forks, only the forms are right. */
export class ExamplePayloads {
  readonly #example: SigningExample;
  #bid: Promise<Json> | undefined;

  constructor(example: SigningExample) {
    this.#example = example;
  }

  get #isGloas(): boolean {
    return isForkPostGloas(this.#example.fork);
  }

  /** Reveals the payload of the slot's block, after publishing the block. */
  async envelope(): Promise<Json> {
    if (!this.#isGloas)
      return SignedExecutionPayloadEnvelope.toJson(SignedExecutionPayloadEnvelope.defaultValue()) as Json;
    const { caller, chain, slot, byHand } = this.#example;
    await caller.call("post_v1_beacon_blocks", [await this.#example.signedBlock()]);
    const root = await this.#example.signedBlockRoot();
    const message = chain.producer.envelopeOf(root)!;
    const proposer = (await chain.states.afterBlock(root)).epochCtx.getBeaconProposer(slot);
    const signature = byHand.signer.sign(proposer, getExecutionPayloadEnvelopeSigningRoot(chain.config, message));
    return SignedExecutionPayloadEnvelope.toJson({ message, signature }) as Json;
  }

  async attestations(): Promise<Json[]> {
    if (!this.#isGloas) return [PayloadAttestationMessage.toJson(PayloadAttestationMessage.defaultValue()) as Json];
    const { chain, slot, byHand } = this.#example;
    const beaconBlockRoot = fromHex(chain.head.root);
    const data = { beaconBlockRoot, slot, payloadPresent: true, blobDataAvailable: true };
    const members = new Set(chain.headState.epochCtx.getPayloadTimelinessCommittee(slot));
    const signingRoot = getPayloadAttestationDataSigningRoot(chain.config, data);
    return Array.from(members, (validatorIndex) => {
      const signature = byHand.signer.sign(validatorIndex, signingRoot);
      return PayloadAttestationMessage.toJson({ validatorIndex, data, signature }) as Json;
    });
  }

  async preferences(): Promise<Json> {
    if (!this.#isGloas) return SignedProposerPreferences.toJson(SignedProposerPreferences.defaultValue()) as Json;
    const { chain, slot, epoch, byHand } = this.#example;
    const proposalSlot = slot + 1;
    const validatorIndex = chain.headState.epochCtx.getBeaconProposer(proposalSlot);
    const dependentRoot = chain.forkChoice.ancestorAtSlot(chain.head.root, (epoch - 1) * SLOTS_PER_EPOCH - 1)!;
    const message: gloas.ProposerPreferences = {
      dependentRoot: fromHex(dependentRoot),
      proposalSlot,
      validatorIndex,
      feeRecipient: new Uint8Array(20).fill(0xfe),
      targetGasLimit: 30_000_000n,
    };
    const signature = byHand.signer.sign(validatorIndex, getProposerPreferencesSigningRoot(chain.config, message));
    return SignedProposerPreferences.toJson({ message, signature }) as Json;
  }

  /** A bid of the first builder on a payload that the node has built. The proposer's preferences must be known. */
  bid(): Promise<Json> {
    this.#bid ??= this.#makeBid();
    return this.#bid;
  }

  async #makeBid(): Promise<Json> {
    if (!this.#isGloas) return SignedExecutionPayloadBid.toJson(SignedExecutionPayloadBid.defaultValue()) as Json;
    const { caller, chain, slot } = this.#example;
    const method = "get_v1_validator_execution_payload_bids_slot_builderIndex";
    const message = ExecutionPayloadBid.fromJson(await caller.call(method, [slot + 1, 0]));
    const secretKey = builderKeys(1).secretKey(0)!;
    const signature = toHex(secretKey.sign(getExecutionPayloadBidSigningRoot(chain.config, message)).toBytes());
    return { message: ExecutionPayloadBid.toJson(message), signature };
  }
}
