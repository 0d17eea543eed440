import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_APPLICATION_BUILDER,
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SELECTION_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  ZERO_HASH,
} from "@lodestar/params";
import { computeDomain, computeSigningRoot, isSyncCommitteeAggregator } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import type { ExampleChain } from "./example-chain.ts";

// What a validator client does between two calls: every function takes what a method answered and signs it.

interface AttesterDuty {
  validator_index: string;
  committee_index: string;
  committee_length: string;
  validator_committee_index: string;
  slot: string;
}

/** The proposer of a slot, and its randao reveal. */
export async function proposal(chain: ExampleChain, slot: number) {
  const duties = await chain.result<{ slot: string; validator_index: string }[]>(
    "get_v1_validator_duties_proposer",
    String(Math.floor(slot / 8)),
  );
  const proposer = Number(duties.find((duty) => duty.slot === String(slot))!.validator_index);
  return { proposer, randaoReveal: toHex(chain.byHand.signer.randaoReveal(proposer, slot)) };
}

/** A block as its proposer signs it. */
export async function signedBlock(chain: ExampleChain, slot: number): Promise<unknown> {
  const { proposer, randaoReveal } = await proposal(chain, slot);
  const message = await chain.result("get_v1_validator_block", String(slot), randaoReveal, "an example");
  const { signer } = chain.byHand;
  const { BeaconBlock } = ssz.phase0;
  const root = signer.signingRoot(BeaconBlock, BeaconBlock.fromJson(message), DOMAIN_BEACON_PROPOSER, slot);
  return { message, signature: toHex(signer.sign(proposer, root)) };
}

/** The duties of the first committee of a slot. */
export async function committeeDuties(chain: ExampleChain, slot: number): Promise<AttesterDuty[]> {
  const everybody = Array.from({ length: chain.devChain.keys.count }, (_, index) => String(index));
  const epoch = String(Math.floor(slot / 8));
  const duties = await chain.result<AttesterDuty[]>("get_v1_validator_duties_attester", epoch, everybody);
  return duties.filter((duty) => duty.slot === String(slot) && duty.committee_index === "0");
}

export async function signedAttestation(chain: ExampleChain, duty: AttesterDuty) {
  const data = await chain.result("get_v1_validator_attestation_data", duty.slot, duty.committee_index);
  const { signer } = chain.byHand;
  const { AttestationData } = ssz.phase0;
  const slot = Number(duty.slot);
  const root = signer.signingRoot(AttestationData, AttestationData.fromJson(data), DOMAIN_BEACON_ATTESTER, slot);
  const length = Number(duty.committee_length);
  const bits = (1n << BigInt(length)) | (1n << BigInt(duty.validator_committee_index));
  const bytes = Math.floor(length / 8) + 1;
  const aggregation_bits = toHex(Buffer.from(bits.toString(16).padStart(2 * bytes, "0"), "hex").reverse());
  return { aggregation_bits, data, signature: toHex(signer.sign(Number(duty.validator_index), root)) };
}

/** The root of what the first committee of a slot votes for. */
export async function attestationDataRoot(chain: ExampleChain, slot: number): Promise<string> {
  const data = await chain.result("get_v1_validator_attestation_data", String(slot), "0");
  return toHex(ssz.phase0.AttestationData.hashTreeRoot(ssz.phase0.AttestationData.fromJson(data)));
}

/** The proof by which a validator shows that it is an aggregator; in small committees every member is. */
export function selectionProof(chain: ExampleChain, validator: number, slot: number): string {
  const { signer } = chain.byHand;
  return toHex(signer.sign(validator, signer.signingRoot(ssz.Slot, slot, DOMAIN_SELECTION_PROOF, slot)));
}

/** What a validator tells builders; their domain is the same in all forks. */
export function signedRegistration(chain: ExampleChain, validator: number, told: Record<string, string>) {
  const { ValidatorRegistrationV1, SignedValidatorRegistrationV1 } = ssz.bellatrix;
  const { config, keys } = chain.devChain;
  const message = ValidatorRegistrationV1.fromJson({ ...told, pubkey: toHex(keys.publicKey(validator)!) });
  const domain = computeDomain(DOMAIN_APPLICATION_BUILDER, config.GENESIS_FORK_VERSION, ZERO_HASH);
  const root = computeSigningRoot(ValidatorRegistrationV1, message, domain);
  return SignedValidatorRegistrationV1.toJson({ message, signature: chain.byHand.signer.sign(validator, root) });
}

export async function signedAggregate(chain: ExampleChain, slot: number): Promise<unknown> {
  const [first] = await committeeDuties(chain, slot);
  const aggregator = Number(first!.validator_index);
  const root = await attestationDataRoot(chain, slot);
  const aggregate = await chain.result("get_v1_validator_aggregate_attestation", String(slot), root);
  const message = {
    aggregator_index: String(aggregator),
    aggregate,
    selection_proof: selectionProof(chain, aggregator, slot),
  };
  const { signer } = chain.byHand;
  const { AggregateAndProof } = ssz.phase0;
  const signed = AggregateAndProof.fromJson(message);
  const signingRoot = signer.signingRoot(AggregateAndProof, signed, DOMAIN_AGGREGATE_AND_PROOF, slot);
  return { message, signature: toHex(signer.sign(aggregator, signingRoot)) };
}

export async function syncMessage(chain: ExampleChain, slot: number, validator: number) {
  const { root } = await chain.result<{ root: string }>("get_v1_beacon_blocks_blockId_root", "head");
  const { signer } = chain.byHand;
  const signingRoot = signer.signingRoot(ssz.Root, fromHex(root), DOMAIN_SYNC_COMMITTEE, slot);
  const signature = toHex(signer.sign(validator, signingRoot));
  return { slot: String(slot), beacon_block_root: root, validator_index: String(validator), signature };
}

/** A contribution of the first sync subcommittee, signed by a member that is selected to do so. */
export async function signedContribution(chain: ExampleChain, slot: number): Promise<unknown> {
  const { signer } = chain.byHand;
  const { root } = await chain.result<{ root: string }>("get_v1_beacon_blocks_blockId_root", "head");
  const contribution = await chain.result("get_v1_validator_sync_committee_contribution", String(slot), "0", root);
  const { SyncAggregatorSelectionData, ContributionAndProof } = ssz.altair;
  const selectionRoot = signer.signingRoot(
    SyncAggregatorSelectionData,
    { slot, subcommitteeIndex: 0 },
    DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
    slot,
  );
  for (const validator of await syncSubcommittee(chain, slot)) {
    const proof = signer.sign(validator, selectionRoot);
    if (!isSyncCommitteeAggregator(proof)) continue;
    const message = { aggregator_index: String(validator), contribution, selection_proof: toHex(proof) };
    const signed = ContributionAndProof.fromJson(message);
    const signingRoot = signer.signingRoot(ContributionAndProof, signed, DOMAIN_CONTRIBUTION_AND_PROOF, slot);
    return { message, signature: toHex(signer.sign(validator, signingRoot)) };
  }
  throw new Error(`No member of the first sync subcommittee is selected in slot ${slot}.`);
}

/** The members of the first sync subcommittee. */
export async function syncSubcommittee(chain: ExampleChain, slot: number): Promise<number[]> {
  const everybody = Array.from({ length: chain.devChain.keys.count }, (_, index) => String(index));
  const duties = await chain.result<{ validator_index: string; validator_sync_committee_indices: string[] }[]>(
    "post_v1_validator_duties_sync_epoch",
    String(Math.floor(slot / 8)),
    everybody,
  );
  const isFirst = (seat: string) => Number(seat) < 8;
  return duties
    .filter(({ validator_sync_committee_indices }) => validator_sync_committee_indices.some(isFirst))
    .map(({ validator_index }) => Number(validator_index));
}
