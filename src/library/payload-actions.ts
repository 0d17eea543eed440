import type { BlockId } from "../client/chain-types.ts";
import type { Client } from "../client/index.ts";
import type { Methods } from "../client/methods.ts";

type Params<Name extends keyof Methods> = NonNullable<Parameters<Methods[Name]>[0]>;
type Result<Name extends keyof Methods> = ReturnType<Methods[Name]>;

/** Slots that a fault affects: a number of slots, 1 by default, from the given one or the next one on. */
export type AffectedSlots = Params<"dev_withholdPayloads">;

/** Delay of payloads. */
export interface PayloadDelay extends AffectedSlots {
  /** Seconds into the slot of arrival; by default halfway between the votes of the committee and the end of the slot. */
  readonly seconds?: number;
  /** Number of slots by which a payload is late; 0 by default. */
  readonly slotsLate?: number | bigint;
}

/** Votes of members of the payload timeliness committees. */
export interface PayloadVotes extends AffectedSlots {
  /** The honest vote by default. */
  readonly payloadPresent?: boolean;
  /** The honest vote by default. */
  readonly blobDataAvailable?: boolean;
  /** True to not vote at all. */
  readonly abstain?: boolean;
  /** Members that vote like this; all by default. */
  readonly validators?: NonNullable<Params<"dev_setPayloadVotes">["validators"]>;
}

/**
 * Faults of payloads since gloas. They concern the slots after the call; of several calls for a slot, the last one
 * counts. `{ slots: 0 }` ends all.
 */
export interface PayloadActions {
  /** Returns whether a block has its payload, and the votes on it; the head by default. */
  get(block?: BlockId): Result<"dev_getPayload">;
  /** Withholds payloads and their blobs, so that the blocks stay empty. */
  withhold(slots?: AffectedSlots): Result<"dev_withholdPayloads">;
  /** Reveals the withheld payload of a block; by default the newest one. */
  reveal(block?: BlockId): Result<"dev_revealPayload">;
  /** Reveals payloads late: after the votes of the committee, or after later blocks. */
  delay(delay?: PayloadDelay): Result<"dev_delayPayloads">;
  /** Reveals false payloads, which are rejected; by default others than the bids commit to. */
  falsify(options?: Params<"dev_falsifyPayloads">): Result<"dev_falsifyPayloads">;
  /** Reveals payloads without their blobs. */
  withholdBlobs(slots?: AffectedSlots): Result<"dev_withholdBlobs">;
  /** Sets how members of the payload timeliness committees vote. */
  setVotes(votes?: PayloadVotes): Result<"dev_setPayloadVotes">;
}

export function payloadActions(client: Client): PayloadActions {
  return {
    get: (block = "head") => client.dev_getPayload({ block_id: block }),
    withhold: (slots = {}) => client.dev_withholdPayloads(slots),
    reveal: (block) => client.dev_revealPayload(block === undefined ? {} : { block_id: block }),
    delay: ({ slotsLate, ...delay } = {}) =>
      client.dev_delayPayloads({ ...delay, ...(slotsLate !== undefined && { slots_late: slotsLate }) }),
    falsify: (options = {}) => client.dev_falsifyPayloads(options),
    withholdBlobs: (slots = {}) => client.dev_withholdBlobs(slots),
    setVotes: ({ payloadPresent, blobDataAvailable, ...votes } = {}) =>
      client.dev_setPayloadVotes({
        ...votes,
        ...(payloadPresent !== undefined && { payload_present: payloadPresent }),
        ...(blobDataAvailable !== undefined && { blob_data_available: blobDataAvailable }),
      }),
  };
}
