import type { ForkPostBellatrix } from "@lodestar/params";
import type {
  BlobsBundle,
  bellatrix,
  ExecutionPayload,
  SignedBlindedBeaconBlock,
  SignedBuilderBid,
  Slot,
} from "@lodestar/types";
import { OperationalError } from "../../errors/operational-error.ts";

export interface BidRequest {
  slot: Slot;
  parentHash: Uint8Array;
  proposerPubkey: Uint8Array;
}

/** A bid as it came: nothing of it has been checked. */
export interface OfferedBid {
  /** The fork that the builder takes the bid to be of. */
  fork: ForkPostBellatrix;
  signed: SignedBuilderBid;
}

export interface RevealedPayload {
  executionPayload: ExecutionPayload;
  /** Null before deneb. */
  blobsBundle: BlobsBundle | null;
}

/**
 * Who makes payloads for others, as a node sees it: a builder, a relay, or what stands before several of them
 * (builder-specs). Whatever cannot be had of it rejects with a `BuilderError`.
 */
export interface Builder {
  /** Null when nothing is offered. */
  getBid(request: BidRequest): Promise<OfferedBid | null>;
  /** Up to electra: gives the payload that the proposer has bound itself to. */
  revealPayload(signed: SignedBlindedBeaconBlock): Promise<RevealedPayload>;
  /** From fulu on: has the builder publish the block with its payload. */
  publishBlock(signed: SignedBlindedBeaconBlock): Promise<void>;
  registerValidators(registrations: bellatrix.SignedValidatorRegistrationV1[]): Promise<void>;
}

interface BuilderErrorOptions {
  isRefusal?: boolean;
  isUnreadable?: boolean;
  cause?: unknown;
}

/** The message is a whole sentence. */
export class BuilderError extends OperationalError {
  /** Whether the builder answered with an error, so that the same request is bound to fail again. */
  readonly isRefusal: boolean;
  /** Whether it answered with something that is not what was asked for. */
  readonly isUnreadable: boolean;

  constructor(message: string, { isRefusal = false, isUnreadable = false, cause }: BuilderErrorOptions = {}) {
    super(message, { cause });
    this.name = "BuilderError";
    this.isRefusal = isRefusal;
    this.isUnreadable = isUnreadable;
  }
}
