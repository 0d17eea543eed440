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

/** An unverified bid. */
export interface OfferedBid {
  /** Fork stated by the builder. */
  fork: ForkPostBellatrix;
  signed: SignedBuilderBid;
}

/** The payload of a signed blinded block. */
export interface RevealedPayload {
  executionPayload: ExecutionPayload;
  /** Null before deneb. */
  blobsBundle: BlobsBundle | null;
}

/**
 * A block builder: a builder, a relay, or a multiplexer of relays (builder-specs). Failing calls reject with a
 * `BuilderError`.
 */
export interface Builder {
  /** Returns null if there is no bid. */
  getBid(request: BidRequest): Promise<OfferedBid | null>;
  /** Before fulu: returns the payload of a signed blinded block. */
  revealPayload(signed: SignedBlindedBeaconBlock): Promise<RevealedPayload>;
  /** Since fulu: submits a signed blinded block, which the builder publishes with its payload. */
  publishBlock(signed: SignedBlindedBeaconBlock): Promise<void>;
  registerValidators(registrations: bellatrix.SignedValidatorRegistrationV1[]): Promise<void>;
}

interface BuilderErrorOptions {
  isRejection?: boolean;
  isUnreadable?: boolean;
  cause?: unknown;
}

/** Thrown if a builder fails. The message is a complete sentence. */
export class BuilderError extends OperationalError {
  /** True if the builder responded with an error, so retrying is pointless. */
  readonly isRejection: boolean;
  /** True if the response could not be decoded. */
  readonly isUnreadable: boolean;

  constructor(message: string, { isRejection = false, isUnreadable = false, cause }: BuilderErrorOptions = {}) {
    super(message, { cause });
    this.name = "BuilderError";
    this.isRejection = isRejection;
    this.isUnreadable = isUnreadable;
  }
}
