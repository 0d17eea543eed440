import type { ForkName } from "@lodestar/params";
import type { Epoch, RootHex, Slot, ValidatorIndex } from "@lodestar/types";

type Json = Record<string, unknown>;

/** Stages of a slot in which examples run, each seeing the effects of earlier stages. Most examples only read. */
export const EXAMPLE_STAGES = ["propose", "publish", "attest", "aggregate", "operate", "read", "control"] as const;

/** An example call of a method. Documents show it with its response, and tests run it on several forks. */
export interface Example {
  /** Defaults to `read`. */
  readonly stage?: (typeof EXAMPLE_STAGES)[number];
  /** Positional parameters. */
  readonly params?: readonly unknown[] | ((chain: ExampleChain) => unknown[] | Promise<unknown[]>);
  /** True if the example is documented on a later fork, where the response is more complete than on phase0. */
  readonly isShownLater?: true;
  /** True if this node rejects all calls of the method as unsupported. */
  readonly isUnsupported?: true;
}

/** A finalized chain, paused in a slot, and its validator keys. Used to build parameters for examples. */
export interface ExampleChain {
  readonly fork: ForkName;
  /** The current slot, which is empty until a block is published. */
  readonly slot: Slot;
  readonly epoch: Epoch;
  readonly headRoot: RootHex;
  /** Hash of the head's execution block. */
  readonly executionHash: string;
  /** Hash of the transaction in the head's execution block. */
  readonly transactionHash: string;
  /** Creates a log filter and returns its id. */
  filterId(): Promise<string>;
  /** Returns a signed transaction with the next nonce of the second funded account. */
  rawTransaction(): Promise<string>;
  /** Like `rawTransaction`, except that a slot passes once the transaction is sent. */
  rawTransactionForNextSlot(): Promise<string>;
  /** Returns the start of the next slot in Unix seconds. */
  nextSlotSeconds(): number;
  /** A known peer, if any. */
  readonly peerId: string;
  /** The id of one of the caller's subscriptions. */
  readonly subscriptionId: string;
  /** Takes a snapshot and returns its id. */
  takeSnapshot(): Promise<string>;
  /** Returns a dump of the chain in hex. */
  dump(): Promise<string>;
  pubkey(validator: ValidatorIndex): string;
  /** Returns the RANDAO reveal of the slot's proposer. */
  randaoReveal(): Promise<string>;
  /** Returns a block for the slot, including its blobs from deneb on. Every call returns the same block. */
  signedBlock(): Promise<Json>;
  /** Returns the root of the block for the slot; since gloas. */
  signedBlockRoot(): Promise<RootHex>;
  /** Returns the envelope with the payload of the block for the slot; since gloas. */
  signedEnvelope(): Promise<Json>;
  /** Returns the votes of the members of the slot's payload timeliness committee on the head; since gloas. */
  payloadAttestations(): Promise<Json[]>;
  /** Returns the preferences of the proposer of the next slot; since gloas. */
  proposerPreferences(): Promise<Json>;
  /** Returns a bid for the next slot; since gloas. */
  signedBid(): Promise<Json>;
  /** Returns the previous block in blinded form. */
  blindedBlock(): Promise<Json>;
  /** Returns attestations for the head by the slot's committee, one per validator. */
  attestations(): Promise<Json[]>;
  /** Returns the hash tree root of the attestation data. */
  attestationDataRoot(): Promise<RootHex>;
  signedAggregate(): Promise<Json>;
  /** Returns messages from all sync committee members. */
  syncCommitteeMessages(): Promise<Json[]>;
  /** Returns the index of a subcommittee that has an aggregator in the slot. */
  syncSubcommitteeIndex(): Promise<number>;
  signedContribution(): Promise<Json>;
  selectionProof(validator: ValidatorIndex): string;
  /** Returns the validator's builder registration. */
  registration(validator: ValidatorIndex): Json;
  voluntaryExit(validator: ValidatorIndex): Json;
  proposerSlashing(validator: ValidatorIndex): Json;
  attesterSlashing(...validators: ValidatorIndex[]): Json;
  /** Returns a change from BLS to execution credentials. */
  credentialsChange(validator: ValidatorIndex): Json;
}
