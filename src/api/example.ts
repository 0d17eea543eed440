import type { ForkName } from "@lodestar/params";
import type { Epoch, RootHex, Slot, ValidatorIndex } from "@lodestar/types";

type Json = Record<string, unknown>;

/**
 * The stages of a slot that examples live through together, in this order: each sees what those of the earlier stages did
 * to the chain. Most examples only read, when all else but control is done.
 */
export const EXAMPLE_STAGES = ["propose", "publish", "attest", "aggregate", "operate", "read", "control"] as const;

/**
 * A call of a method that shows what it does. Documents show it with its answer, and tests make it on chains of several
 * forks, where it must succeed wherever the method is served.
 */
export interface Example {
  /** By default `read`. */
  readonly stage?: (typeof EXAMPLE_STAGES)[number];
  /** The parameters by position. */
  readonly params?: readonly unknown[] | ((chain: ExampleChain) => unknown[] | Promise<unknown[]>);
  /** Set where documents show it on a later fork, although phase0 has an answer that says less. */
  readonly isShownLater?: true;
  /** Set where this node refuses every call of the method as unsupported. */
  readonly isRefused?: true;
}

/** A finalized chain that stands still in a slot, with the keys of its validators: what examples are made of. */
export interface ExampleChain {
  readonly fork: ForkName;
  /** The current slot. It has no block before one is published. */
  readonly slot: Slot;
  readonly epoch: Epoch;
  readonly headRoot: RootHex;
  /** When the next slot begins, in Unix seconds. */
  nextSlotSeconds(): number;
  /** A peer that the node knows, where it has any. */
  readonly peerId: string;
  /** A subscription to events that the caller has. */
  readonly subscriptionId: string;
  /** The id of a snapshot of the chain, another one at each call. */
  takeSnapshot(): Promise<string>;
  /** The whole chain, in hexadecimal digits. */
  dump(): Promise<string>;
  pubkey(validator: ValidatorIndex): string;
  /** Of the proposer of the slot. */
  randaoReveal(): Promise<string>;
  /** The block of the slot, the same at each call; from deneb on with its blobs beside it. */
  signedBlock(): Promise<Json>;
  /** The block before that of the slot, without its payload. */
  blindedBlock(): Promise<Json>;
  /** The attestations of the slot's committee for the head, one a validator. */
  attestations(): Promise<Json[]>;
  /** The hash tree root of what they attest to. */
  attestationDataRoot(): Promise<RootHex>;
  signedAggregate(): Promise<Json>;
  /** The messages of all members of the sync committee. */
  syncCommitteeMessages(): Promise<Json[]>;
  /** A subcommittee with a member that may aggregate in the slot. */
  syncSubcommitteeIndex(): Promise<number>;
  signedContribution(): Promise<Json>;
  selectionProof(validator: ValidatorIndex): string;
  /** What the validator tells builders. */
  registration(validator: ValidatorIndex): Json;
  voluntaryExit(validator: ValidatorIndex): Json;
  proposerSlashing(validator: ValidatorIndex): Json;
  attesterSlashing(...validators: ValidatorIndex[]): Json;
  /** From BLS to execution credentials. */
  credentialsChange(validator: ValidatorIndex): Json;
}
