import type { ForkName } from "@lodestar/params";
import type { ExampleChain } from "../../api/example.ts";

/** Something cannot be asked of an upstream; the message is a clause that says why. */
export class Unaskable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Unaskable";
  }
}

interface Place {
  readonly fork: ForkName;
  readonly slot: number;
  readonly epoch: number;
  readonly headRoot: string;
  /** Undefined where no peer is known. */
  readonly peerId?: string;
  /** Of the first validators, as far as they are known. */
  readonly pubkeys: ReadonlyMap<number, string>;
}

const signed = (): never => {
  throw new Unaskable("it takes what a validator has signed");
};
const ofOurs = (): never => {
  throw new Unaskable("it is no operation of the standard");
};

/** What the examples of methods ask about, on a chain that is somebody else's: whatever takes keys cannot be asked. */
export function placeOnChain({ pubkeys, peerId, ...place }: Place): ExampleChain {
  return {
    ...place,
    get peerId() {
      if (peerId === undefined) throw new Unaskable("no peer is known that it could be asked about");
      return peerId;
    },
    pubkey: (validator) => {
      const pubkey = pubkeys.get(validator);
      if (pubkey === undefined) throw new Unaskable("the public keys of the validators are not known");
      return pubkey;
    },
    get subscriptionId() {
      return ofOurs();
    },
    nextSlotSeconds: ofOurs,
    takeSnapshot: ofOurs,
    dump: ofOurs,
    randaoReveal: signed,
    signedBlock: signed,
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
