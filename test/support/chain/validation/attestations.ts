import { aggregateSignatures } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import { DOMAIN_AGGREGATE_AND_PROOF, DOMAIN_SELECTION_PROOF, ForkSeq, MAX_COMMITTEES_PER_SLOT } from "@lodestar/params";
import { computeSigningRoot, getAttestationDataSigningRoot } from "@lodestar/state-transition";
import {
  type Attestation,
  type phase0,
  type RootHex,
  type SignedAggregateAndProof,
  type SingleAttestation,
  type Slot,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import type { TestChain } from "./validation-chain.ts";

/** An attestation of a committee member; `change` runs before signing. */
interface AttestationOptions {
  slot: Slot;
  committeeIndex?: number;
  head?: RootHex;
  change?: (data: phase0.AttestationData) => void;
}

export const committeeOf = (chain: TestChain, slot: Slot, committeeIndex: number): Uint32Array =>
  chain.headState.epochCtx.getBeaconCommittee(slot, committeeIndex);

function prepare(chain: TestChain, { slot, committeeIndex = 0, head, change = () => {} }: AttestationOptions) {
  const isElectra = chain.config.getForkSeq(slot) >= ForkSeq.electra;
  const data = chain.voteData(slot, isElectra ? 0 : committeeIndex, head);
  change(data);
  const committee = committeeOf(chain, slot, committeeIndex);
  return {
    isElectra,
    data,
    committeeIndex,
    committee,
    signingRoot: getAttestationDataSigningRoot(chain.config, slot, data),
  };
}

/** The attestation of the member at that position, in the type of the slot's fork. */
export function singleAttestation(chain: TestChain, position: number, options: AttestationOptions): SingleAttestation {
  const { isElectra, data, committeeIndex, committee, signingRoot } = prepare(chain, options);
  const attesterIndex = committee[position]!;
  const signature = chain.sign(attesterIndex, signingRoot);
  return isElectra
    ? { committeeIndex, attesterIndex, data, signature }
    : { aggregationBits: BitArray.fromSingleBit(committee.length, position), data, signature };
}

/** The attestations of the members at those positions, in the type of the slot's fork. */
export function aggregatedAttestation(chain: TestChain, positions: number[], options: AttestationOptions): Attestation {
  const { isElectra, data, committeeIndex, committee, signingRoot } = prepare(chain, options);
  const aggregationBits = BitArray.fromBitLen(committee.length);
  for (const position of positions) aggregationBits.set(position, true);
  const signatures = positions.map((position) => chain.key(committee[position]!).sign(signingRoot));
  const signature = aggregateSignatures(signatures).toBytes();
  const attestation = { aggregationBits, data, signature };
  if (!isElectra) return attestation;
  return { ...attestation, committeeBits: BitArray.fromSingleBit(MAX_COMMITTEES_PER_SLOT, committeeIndex) };
}

/** The aggregate with the aggregator's proof and signature. */
export function signAggregate(
  chain: TestChain,
  aggregate: Attestation,
  aggregatorIndex: number,
  { proofBy = aggregatorIndex, signedBy = aggregatorIndex } = {},
): SignedAggregateAndProof {
  const { config } = chain;
  const { slot } = aggregate.data;
  const proofDomain = config.getDomain(slot, DOMAIN_SELECTION_PROOF, slot);
  const selectionProof = chain.sign(proofBy, computeSigningRoot(ssz.Slot, slot, proofDomain));
  const message = { aggregatorIndex, aggregate, selectionProof };
  const type = sszTypesFor(config.getForkName(slot)).AggregateAndProof;
  const domain = config.getDomain(slot, DOMAIN_AGGREGATE_AND_PROOF, slot);
  return {
    message,
    signature: chain.sign(signedBy, computeSigningRoot(type, message, domain)),
  } as SignedAggregateAndProof;
}
