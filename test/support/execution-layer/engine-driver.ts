import { createHash } from "node:crypto";
import { fromHex, toHex } from "@lodestar/utils";
import { z } from "zod";
import { versionedHashesOf } from "../../../src/execution/engine.ts";
import { type Fork, type ForkTimes, forkAt, isSince } from "./forks.ts";
import type { EngineCaller } from "./http-client.ts";
import {
  type BlobsBundle,
  type BuiltPayload,
  type ExecutionPayload,
  type ForkchoiceAnswer,
  type ForkchoiceState,
  type Hex,
  type PayloadAttributes,
  type PayloadStatus,
  payloadV3,
  toQuantity,
  ZERO_HASH,
} from "./wire.ts";

/** Method versions of each fork. */
const VERSIONS: Record<Fork, { newPayload: number; forkchoiceUpdated: number; getPayload: number }> = {
  paris: { newPayload: 1, forkchoiceUpdated: 1, getPayload: 1 },
  shanghai: { newPayload: 2, forkchoiceUpdated: 2, getPayload: 2 },
  cancun: { newPayload: 3, forkchoiceUpdated: 3, getPayload: 3 },
  prague: { newPayload: 4, forkchoiceUpdated: 3, getPayload: 4 },
  osaka: { newPayload: 4, forkchoiceUpdated: 3, getPayload: 5 },
};

interface DriverOptions {
  forks: ForkTimes;
  genesis: { hash: Hex; timestamp: number };
  slotSeconds?: number;
}

/** Payload with the other parameters of newPayload. */
interface PreparedBlock extends BuiltPayload {
  fork: Fork;
  attributes: PayloadAttributes;
}

/** Removes fields outside the specification, which some clients add and others reject. */
const onlySpecified = (payload: ExecutionPayload) =>
  z.object(payloadV3.partial().shape).parse(payload) as ExecutionPayload;

const hashesOf = (bundle: BlobsBundle | undefined) =>
  versionedHashesOf((bundle?.commitments ?? []).map(fromHex)).map(toHex);

const digest = (text: string): Hex => `0x${createHash("sha256").update(text).digest("hex")}`;

/** Acts as the consensus client: builds payloads, submits them and sets the head. */
export class EngineDriver {
  head: { hash: Hex; timestamp: number };
  safe: Hex = ZERO_HASH;
  finalized: Hex = ZERO_HASH;
  readonly #engine: EngineCaller;
  readonly #forks: ForkTimes;
  readonly #slotSeconds: number;

  constructor(engine: EngineCaller, { forks, genesis, slotSeconds = 12 }: DriverOptions) {
    this.#engine = engine;
    this.#forks = forks;
    this.head = genesis;
    this.#slotSeconds = slotSeconds;
  }

  /** Returns payload attributes for the slot after the head. */
  attributes(): PayloadAttributes {
    const timestamp = this.head.timestamp + this.#slotSeconds;
    const fork = forkAt(this.#forks, timestamp);
    return {
      timestamp: toQuantity(timestamp),
      prevRandao: digest(`randao ${timestamp}`),
      suggestedFeeRecipient: `0x${"fe".repeat(20)}`,
      ...(isSince(fork, "shanghai") && { withdrawals: [] }),
      ...(isSince(fork, "cancun") && { parentBeaconBlockRoot: digest(`beacon block ${timestamp}`) }),
    };
  }

  state(headBlockHash = this.head.hash): ForkchoiceState {
    return { headBlockHash, safeBlockHash: this.safe, finalizedBlockHash: this.finalized };
  }

  forkOf({ timestamp }: PayloadAttributes | ExecutionPayload): Fork {
    return forkAt(this.#forks, Number(timestamp));
  }

  forkchoiceUpdated(fork: Fork, state: ForkchoiceState, attributes: PayloadAttributes | null = null) {
    const { forkchoiceUpdated: version } = VERSIONS[fork];
    return this.#engine.call<ForkchoiceAnswer>(`engine_forkchoiceUpdatedV${version}`, state, attributes);
  }

  /** Builds a payload on the head. */
  async build(changed: Partial<PayloadAttributes> = {}): Promise<PreparedBlock> {
    const attributes = { ...this.attributes(), ...changed };
    const fork = this.forkOf(attributes);
    const { payloadStatus, payloadId } = await this.forkchoiceUpdated(fork, this.state(), attributes);
    if (payloadId === null) throw new Error(`No payload is built: ${JSON.stringify(payloadStatus)}`);
    const method = `engine_getPayloadV${VERSIONS[fork].getPayload}`;
    const answer = await this.#engine.call<ExecutionPayload | BuiltPayload>(method, payloadId);
    const built = "executionPayload" in answer ? answer : { executionPayload: answer, blockValue: toQuantity(0) };
    return { fork, attributes, ...built, executionPayload: onlySpecified(built.executionPayload) };
  }

  newPayload({
    fork,
    attributes,
    executionPayload,
    blobsBundle,
    executionRequests,
  }: PreparedBlock): Promise<PayloadStatus> {
    const params: unknown[] = [executionPayload];
    if (isSince(fork, "cancun")) params.push(hashesOf(blobsBundle), attributes.parentBeaconBlockRoot);
    if (isSince(fork, "prague")) params.push(executionRequests);
    return this.#engine.call(`engine_newPayloadV${VERSIONS[fork].newPayload}`, ...params);
  }

  /** Submits a payload and makes it the head if it is valid. */
  async setHead({ fork, executionPayload: { blockHash, timestamp } }: PreparedBlock): Promise<PayloadStatus> {
    const { payloadStatus } = await this.forkchoiceUpdated(fork, this.state(blockHash));
    if (payloadStatus.status === "VALID") this.head = { hash: blockHash, timestamp: Number(timestamp) };
    return payloadStatus;
  }

  /** Builds, submits and activates a payload, all of which must succeed. */
  async advance(changed: Partial<PayloadAttributes> = {}): Promise<PreparedBlock> {
    const block = await this.build(changed);
    for (const status of [await this.newPayload(block), await this.setHead(block)]) {
      if (status.status !== "VALID") throw new Error(`The block is not valid: ${JSON.stringify(status)}`);
    }
    return block;
  }
}
