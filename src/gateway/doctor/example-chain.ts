import type { ForkName } from "@lodestar/params";
import type { ExampleChain } from "../../api/example.ts";

/** The operation cannot be tested. The message is a clause without a period. */
export class UntestableOperation extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UntestableOperation";
  }
}

interface ChainPosition {
  readonly fork: ForkName;
  readonly slot: number;
  readonly epoch: number;
  readonly headRoot: string;
  /** Undefined if no peer is known. */
  readonly peerId?: string;
  /** Public keys of the first validators, by index. */
  readonly pubkeys: ReadonlyMap<number, string>;
}

const signed = (): never => {
  throw new UntestableOperation("it requires a validator's signature");
};
const nonStandard = (): never => {
  throw new UntestableOperation("it is not a standard operation");
};

/**
 * Creates the chain for method examples from an upstream. Examples that need validator keys throw
 * `UntestableOperation`.
 */
export function exampleChainAt({ pubkeys, peerId, ...position }: ChainPosition): ExampleChain {
  return {
    ...position,
    get peerId() {
      if (peerId === undefined) throw new UntestableOperation("it has no known peer");
      return peerId;
    },
    pubkey: (validator) => {
      const pubkey = pubkeys.get(validator);
      if (pubkey === undefined) throw new UntestableOperation("its validators are unknown");
      return pubkey;
    },
    get executionHash() {
      return nonStandard();
    },
    get transactionHash() {
      return nonStandard();
    },
    rawTransaction: nonStandard,
    rawTransactionForNextSlot: nonStandard,
    filterId: nonStandard,
    get subscriptionId() {
      return nonStandard();
    },
    nextSlotSeconds: nonStandard,
    takeSnapshot: nonStandard,
    dump: nonStandard,
    randaoReveal: signed,
    signedBlock: signed,
    signedBlockRoot: signed,
    signedEnvelope: signed,
    payloadAttestations: signed,
    proposerPreferences: signed,
    signedBid: signed,
    blindedBlock: signed,
    attestations: signed,
    attestationDataRoot: signed,
    signedAggregate: signed,
    syncCommitteeMessages: signed,
    syncSubcommitteeIndex: signed,
    signedContribution: signed,
    selectionProof: signed,
    registration: signed,
    voluntaryExit: signed,
    proposerSlashing: signed,
    attesterSlashing: signed,
    credentialsChange: signed,
  };
}
