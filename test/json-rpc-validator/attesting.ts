import { BitArray } from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";
import { type ChainFacts, isSelected } from "./chain-facts.ts";
import type { ValidatorKey } from "./keys.ts";
import type { RpcClient } from "./rpc-client.ts";

export interface AttesterDuty {
  validator_index: string;
  committee_index: string;
  committee_length: string;
  validator_committee_index: string;
  slot: string;
}

interface Committee {
  index: string;
  duties: AttesterDuty[];
  data: unknown;
  dataRoot: string;
}

const { AttestationData, Attestation } = ssz.phase0;

/** Attests with every key that has a duty in the slot, and then aggregates the attestations of each committee. */
export async function attest(
  rpc: RpcClient,
  facts: ChainFacts,
  keys: readonly ValidatorKey[],
  slot: number,
  duties: readonly AttesterDuty[],
): Promise<void> {
  const committees: Committee[] = [];
  for (const [index, members] of Map.groupBy(duties, (duty) => duty.committee_index)) {
    const data = await rpc.call("get_v1_validator_attestation_data", [String(slot), index]);
    const dataRoot = `0x${Buffer.from(AttestationData.hashTreeRoot(AttestationData.fromJson(data))).toString("hex")}`;
    committees.push({ index, duties: members, data, dataRoot });
  }
  const attestations = committees.flatMap((committee) =>
    committee.duties.map((duty) => signAttestation(facts, keys[Number(duty.validator_index)]!, slot, committee, duty)),
  );
  if (attestations.length > 0) await rpc.call("post_v1_beacon_pool_attestations", attestations);
  const aggregates = [];
  for (const committee of committees) {
    const aggregate = await aggregateCommittee(rpc, facts, keys, slot, committee);
    if (aggregate) aggregates.push(aggregate);
  }
  if (aggregates.length > 0) await rpc.call("post_v1_validator_aggregate_and_proofs", aggregates);
}

function signAttestation(
  facts: ChainFacts,
  key: ValidatorKey,
  slot: number,
  { index, data }: Committee,
  duty: AttesterDuty,
) {
  const signature = facts.signJson(key, "DOMAIN_BEACON_ATTESTER", slot, AttestationData, data);
  if (facts.has("electra", slot)) {
    return { committee_index: index, attester_index: duty.validator_index, data, signature };
  }
  const bits = BitArray.fromSingleBit(Number(duty.committee_length), Number(duty.validator_committee_index));
  const { aggregation_bits } = Attestation.toJson({ ...Attestation.defaultValue(), aggregationBits: bits }) as {
    aggregation_bits: string;
  };
  return { aggregation_bits, data, signature };
}

async function aggregateCommittee(
  rpc: RpcClient,
  facts: ChainFacts,
  keys: readonly ValidatorKey[],
  slot: number,
  { index, duties, dataRoot }: Committee,
) {
  for (const { validator_index, committee_length } of duties) {
    const key = keys[Number(validator_index)]!;
    const proof = facts.sign(key, "DOMAIN_SELECTION_PROOF", slot, ssz.Slot, slot);
    if (!isSelected(proof, Number(committee_length) / facts.number("TARGET_AGGREGATORS_PER_COMMITTEE"))) continue;
    const aggregate = await rpc.call("get_v1_validator_aggregate_attestation", [String(slot), dataRoot, index]);
    const message = { aggregator_index: validator_index, aggregate, selection_proof: proof };
    const type = facts.typesAt(slot).AggregateAndProof;
    return { message, signature: facts.signJson(key, "DOMAIN_AGGREGATE_AND_PROOF", slot, type, message) };
  }
  return undefined;
}
