import type { ForkName } from "@lodestar/params";
import type { Epoch, RootHex, Slot, ValidatorIndex } from "@lodestar/types";

type Json = Record<string, unknown>;

/** Stages of a slot in which examples run. Each sees the effects of earlier stages. Most examples only read. */
export const EXAMPLE_STAGES = ["propose", "publish", "attest", "aggregate", "operate", "read", "control"] as const;

/** Example call of a method. Documents show it with its response; tests run it on several forks. */
export interface Example {
  /** Default: `read`. */
  readonly stage?: (typeof EXAMPLE_STAGES)[number];
  /** Positional parameters. */
  readonly params?: readonly unknown[] | ((chain: ExampleChain) => unknown[] | Promise<unknown[]>);
  /** True to document it on a later fork, where the response is more complete than on phase0. */
  readonly isShownLater?: true;
  /** True if this node rejects every call as unsupported. */
  readonly isUnsupported?: true;
}

/** A finalized chain, paused in a slot, with its validator keys. Example parameters are built from it. */
export interface ExampleChain {
  readonly fork: ForkName;
  /** The current slot, empty until a block is published. */
  readonly slot: Slot;
  readonly epoch: Epoch;
  readonly headRoot: RootHex;
  /** Hash of the head's execution block. */
  readonly executionHash: string;
  /** Hash of the transaction in that block. */
  readonly transactionHash: string;
  /** Creates a filter for logs and returns its id. */
  filterId(): Promise<string>;
  /** A signed transaction with the next nonce of the second funded account. */
  rawTransaction(): Promise<string>;
  /** Like `rawTransaction`. A slot passes once it is sent. */
  rawTransactionForNextSlot(): Promise<string>;
  /** Start of the next slot, in Unix seconds. */
  nextSlotSeconds(): number;
  /** A known peer, if any. */
  readonly peerId: string;
  /** A subscription of the caller. */
  readonly subscriptionId: string;
  /** Takes a snapshot and returns its id. */
  takeSnapshot(): Promise<string>;
  /** Hex dump of the chain. */
  dump(): Promise<string>;
  pubkey(validator: ValidatorIndex): string;
  /** Reveal of the slot's proposer. */
  randaoReveal(): Promise<string>;
  /** The block of the slot, with its blobs from deneb on. Every call returns the same block. */
  signedBlock(): Promise<Json>;
  /** The previous block, blinded. */
  blindedBlock(): Promise<Json>;
  /** Attestations of the slot's committee for the head, one per validator. */
  attestations(): Promise<Json[]>;
  /** Hash tree root of the attestation data. */
  attestationDataRoot(): Promise<RootHex>;
  signedAggregate(): Promise<Json>;
  /** Messages of all sync committee members. */
  syncCommitteeMessages(): Promise<Json[]>;
  /** A subcommittee with an aggregator in the slot. */
  syncSubcommitteeIndex(): Promise<number>;
  signedContribution(): Promise<Json>;
  selectionProof(validator: ValidatorIndex): string;
  /** Builder registration of the validator. */
  registration(validator: ValidatorIndex): Json;
  voluntaryExit(validator: ValidatorIndex): Json;
  proposerSlashing(validator: ValidatorIndex): Json;
  attesterSlashing(...validators: ValidatorIndex[]): Json;
  /** Change from BLS to execution credentials. */
  credentialsChange(validator: ValidatorIndex): Json;
}
