import type { ForkPostBellatrix } from "@lodestar/params";
import type {
  BlobsBundle,
  bellatrix,
  ExecutionPayload,
  gloas,
  PubkeyHex,
  RootHex,
  SignedBlindedBeaconBlock,
  SignedBuilderBid,
  Slot,
} from "@lodestar/types";
import { OperationalError } from "../../errors/operational-error.ts";
import type { BuilderPreferenceEntry, SignedRequestAuth } from "./request-auth.ts";

export interface BidRequest {
  slot: Slot;
  parentHash: Uint8Array;
  proposerPubkey: Uint8Array;
}

/** The block that a bid is requested for, since gloas. */
export interface ExecutionBidRequest {
  slot: Slot;
  parentHash: RootHex;
  parentRoot: RootHex;
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
  /** Origin of its URL. */
  readonly origin: string;
  /** Returns null if there is no bid. */
  getBid(request: BidRequest): Promise<OfferedBid | null>;
  /** Before fulu: returns the payload of a signed blinded block. */
  revealPayload(signed: SignedBlindedBeaconBlock): Promise<RevealedPayload>;
  /** Since fulu: submits a signed blinded block, which the builder publishes with its payload. */
  publishBlock(signed: SignedBlindedBeaconBlock): Promise<void>;
  registerValidators(registrations: bellatrix.SignedValidatorRegistrationV1[]): Promise<void>;
  /** Since gloas. Returns null if there is no bid. */
  getExecutionBid(
    request: ExecutionBidRequest,
    auth: SignedRequestAuth,
  ): Promise<gloas.SignedExecutionPayloadBid | null>;
  /** Since gloas: submits a signed block with a bid, whose payload the builder reveals. */
  submitBlock(signed: gloas.SignedBeaconBlock): Promise<void>;
  /** Since gloas: submits what the proposer accepts. */
  submitPreferences(
    proposerPubkey: PubkeyHex,
    preferences: Pick<BuilderPreferenceEntry, "auth" | "maxExecutionPayment">,
  ): Promise<void>;
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
