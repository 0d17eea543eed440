import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { BitArray, type Type } from "@chainsafe/ssz";
import type { routes } from "@lodestar/api";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SELECTION_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  ForkSeq,
  MAX_COMMITTEES_PER_SLOT,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import { computeSigningRoot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import {
  type AggregateAndProof,
  type Attestation,
  type altair,
  type BlockContents,
  type bellatrix,
  type DomainType,
  isElectraSingleAttestation,
  ProducedBlockSource,
  type RootHex,
  type SignedAggregateAndProof,
  type SingleAttestation,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { DevGenesis } from "../../../../src/dev/genesis.ts";
import type { ValidatorApi } from "../../../../src/dev/validators/validator-api.ts";
import { LocalChain } from "./local-chain.ts";

type MethodName = keyof ValidatorApi["validator"] | keyof ValidatorApi["beacon"];

interface LocalApi extends ValidatorApi {
  chain: LocalChain;
  /** The names of the methods that were called, in order. */
  calls: MethodName[];
  attestations: SingleAttestation[];
  aggregates: SignedAggregateAndProof[];
  syncMessages: altair.SyncCommitteeMessage[];
  contributions: altair.SignedContributionAndProof[];
  committeeSubscriptions: routes.validator.BeaconCommitteeSubscription[];
  syncSubscriptions: routes.validator.SyncCommitteeSubscription[];
  registrations: bellatrix.SignedValidatorRegistrationV1[];
}

/** API of a `LocalChain`. Verifies every submitted signature. */
export function createLocalApi(genesis: DevGenesis): LocalApi {
  const chain = new LocalChain(genesis);
  const { config, keys } = genesis;
  const calls: MethodName[] = [];
  const attestations: SingleAttestation[] = [];
  const aggregates: SignedAggregateAndProof[] = [];
  const syncMessages: altair.SyncCommitteeMessage[] = [];
  const contributions: altair.SignedContributionAndProof[] = [];
  const committeeSubscriptions: routes.validator.BeaconCommitteeSubscription[] = [];
  const syncSubscriptions: routes.validator.SyncCommitteeSubscription[] = [];
  const registrations: bellatrix.SignedValidatorRegistrationV1[] = [];

  function check<T>(
    signer: ValidatorIndex,
    type: Type<T>,
    message: T,
    domain: DomainType,
    slot: Slot,
    sig: Uint8Array,
  ) {
    const signingRoot = computeSigningRoot(type, message, config.getDomain(slot, domain, slot));
    // BLS signatures are unique, so comparing is enough and faster than verifying.
    if (Buffer.compare(keys.secretKey(signer)!.sign(signingRoot).toBytes(), sig) !== 0) {
      throw new Error(`Invalid signature of validator ${signer}.`);
    }
  }

  const attesterOf = (attestation: SingleAttestation): ValidatorIndex => {
    if (isElectraSingleAttestation(attestation)) return attestation.attesterIndex;
    const { slot, index } = attestation.data;
    const committee = chain.stateAt(slot).epochCtx.getBeaconCommittee(slot, index);
    return committee[attestation.aggregationBits.getTrueBitIndexes()[0]!]!;
  };

  function aggregateOf(slot: Slot, committeeIndex: number, dataRoot: RootHex): Attestation {
    const committee = chain.stateAt(slot).epochCtx.getBeaconCommittee(slot, committeeIndex);
    const matching = attestations.filter(
      (attestation) =>
        attestation.data.slot === slot &&
        toRootHex(ssz.phase0.AttestationData.hashTreeRoot(attestation.data)) === dataRoot &&
        committee.includes(attesterOf(attestation)),
    );
    const bits = BitArray.fromBitLen(committee.length);
    for (const attestation of matching) bits.set(committee.indexOf(attesterOf(attestation)), true);
    const signature = aggregateSerializedSignatures(matching.map((attestation) => attestation.signature)).toBytes();
    const aggregate = { aggregationBits: bits, data: matching[0]!.data, signature };
    if (config.getForkSeq(slot) < ForkSeq.electra) return aggregate;
    return { ...aggregate, committeeBits: BitArray.fromSingleBit(MAX_COMMITTEES_PER_SLOT, committeeIndex) };
  }

  const api: ValidatorApi = {
    validator: {
      async getProposerDuties({ epoch }) {
        const start = computeStartSlotAtEpoch(epoch);
        const proposers = chain.stateAt(start).epochCtx.getBeaconProposers();
        const data = proposers.map((validatorIndex, position) => ({
          slot: start + position,
          validatorIndex,
          pubkey: keys.publicKey(validatorIndex)!,
        }));
        return { data, meta: { executionOptimistic: false, dependentRoot: chain.dependentRoot(epoch) } };
      },
      async getAttesterDuties({ epoch, indices }) {
        // Committees are known an epoch early.
        const { epochCtx } = chain.stateAt(computeStartSlotAtEpoch(epoch - 1));
        const data = Array.from(epochCtx.getCommitteeAssignments(epoch, indices.map(Number)).values(), (duty) => ({
          ...duty,
          pubkey: keys.publicKey(duty.validatorIndex)!,
        }));
        return { data, meta: { executionOptimistic: false, dependentRoot: chain.dependentRoot(epoch - 1) } };
      },
      async getSyncCommitteeDuties({ epoch, indices }) {
        const { validatorIndexMap } = chain.head.epochCtx.getIndexedSyncCommitteeAtEpoch(epoch);
        const data = indices
          .map(Number)
          .filter((validatorIndex) => validatorIndexMap.has(validatorIndex))
          .map((validatorIndex) => ({
            pubkey: keys.publicKey(validatorIndex)!,
            validatorIndex,
            validatorSyncCommitteeIndices: [...validatorIndexMap.get(validatorIndex)!],
          }));
        return { data, meta: { executionOptimistic: false } };
      },
      async produceBlockV3({ slot, randaoReveal }) {
        const isElectra = config.getForkSeq(slot) >= ForkSeq.electra;
        const includable = aggregates
          .map(({ message }) => message.aggregate)
          .filter((aggregate) => aggregate.data.slot === slot - 1 && "committeeBits" in aggregate === isElectra);
        const signedLastSlot = contributions
          .map(({ message }) => message.contribution)
          .filter((contribution) => contribution.slot === slot - 1);
        const block = chain.produce(slot, randaoReveal, includable, signedLastSlot);
        const isDeneb = config.getForkSeq(slot) >= ForkSeq.deneb;
        const data = (isDeneb ? { block, kzgProofs: [], blobs: [] } : { block }) as BlockContents;
        const values = { executionPayloadValue: 0n, consensusBlockValue: 0n };
        const version = config.getForkName(slot);
        const executionPayloadSource = ProducedBlockSource.engine;
        return { data, meta: { version, executionPayloadBlinded: false, ...values, executionPayloadSource } };
      },
      async produceAttestationData({ slot, committeeIndex = 0 }) {
        return { data: { ...chain.attestationData(slot), index: committeeIndex } };
      },
      async getAggregatedAttestationV2({ slot, committeeIndex, attestationDataRoot }) {
        const data = aggregateOf(slot, committeeIndex, attestationDataRoot);
        return { data, meta: { version: config.getForkName(slot) } };
      },
      async publishAggregateAndProofsV2({ signedAggregateAndProofs }) {
        for (const { message, signature } of signedAggregateAndProofs) {
          const { aggregatorIndex, aggregate, selectionProof } = message;
          const { slot } = aggregate.data;
          const type = config.getForkTypes(slot).AggregateAndProof as Type<AggregateAndProof>;
          check(aggregatorIndex, ssz.Slot, slot, DOMAIN_SELECTION_PROOF, slot, selectionProof);
          check(aggregatorIndex, type, message, DOMAIN_AGGREGATE_AND_PROOF, slot, signature);
        }
        aggregates.push(...signedAggregateAndProofs);
      },
      async produceSyncCommitteeContribution({ slot, subcommitteeIndex, beaconBlockRoot }) {
        const { validatorIndices } = chain.head.epochCtx.getIndexedSyncCommittee(slot);
        const firstSeat = subcommitteeIndex * SYNC_COMMITTEE_SUBNET_SIZE;
        const aggregationBits = BitArray.fromBitLen(SYNC_COMMITTEE_SUBNET_SIZE);
        const signatures: Uint8Array[] = [];
        for (let position = 0; position < SYNC_COMMITTEE_SUBNET_SIZE; position++) {
          const member = validatorIndices[firstSeat + position];
          const message = syncMessages.find((known) => known.slot === slot && known.validatorIndex === member);
          if (!message) continue;
          aggregationBits.set(position, true);
          signatures.push(message.signature);
        }
        const signature = aggregateSerializedSignatures(signatures).toBytes();
        return {
          data: { slot, beaconBlockRoot: fromHex(beaconBlockRoot), subcommitteeIndex, aggregationBits, signature },
        };
      },
      async publishContributionAndProofs({ contributionAndProofs }) {
        for (const { message, signature } of contributionAndProofs) {
          const { aggregatorIndex, contribution, selectionProof } = message;
          const { slot, subcommitteeIndex } = contribution;
          const { ContributionAndProof, SyncAggregatorSelectionData } = ssz.altair;
          const selection = { slot, subcommitteeIndex };
          const selectionDomain = DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF;
          check(aggregatorIndex, SyncAggregatorSelectionData, selection, selectionDomain, slot, selectionProof);
          check(aggregatorIndex, ContributionAndProof, message, DOMAIN_CONTRIBUTION_AND_PROOF, slot, signature);
        }
        contributions.push(...contributionAndProofs);
      },
      async prepareBeaconCommitteeSubnet({ subscriptions }) {
        committeeSubscriptions.push(...subscriptions.filter((subscription) => "validatorIndex" in subscription));
      },
      async prepareSyncCommitteeSubnets({ subscriptions }) {
        syncSubscriptions.push(...subscriptions);
      },
      async registerValidator(args) {
        registrations.push(...args.registrations);
      },
    },
    beacon: {
      async getBlockRoot() {
        return { data: { root: chain.headRoot }, meta: { executionOptimistic: false, finalized: false } };
      },
      async publishBlockV2({ signedBlockContents }) {
        chain.import(signedBlockContents.signedBlock);
        return { status: 200 };
      },
      async publishBlindedBlockV2() {
        throw new Error("The chain has no builder to unblind the block.");
      },
      async submitPoolAttestationsV2({ signedAttestations }) {
        for (const attestation of signedAttestations) {
          const { data, signature } = attestation;
          check(
            attesterOf(attestation),
            ssz.phase0.AttestationData,
            data,
            DOMAIN_BEACON_ATTESTER,
            data.slot,
            signature,
          );
        }
        attestations.push(...signedAttestations);
      },
      async submitPoolSyncCommitteeSignatures({ signatures }) {
        for (const { slot, beaconBlockRoot, validatorIndex, signature } of signatures) {
          check(validatorIndex, ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, slot, signature);
        }
        syncMessages.push(...signatures);
      },
    },
  };

  const record = <T extends object>(methods: T): T =>
    new Proxy(methods, {
      get(target, name, receiver) {
        calls.push(name as MethodName);
        return Reflect.get(target, name, receiver);
      },
    });
  return {
    validator: record(api.validator),
    beacon: record(api.beacon),
    chain,
    calls,
    attestations,
    aggregates,
    syncMessages,
    contributions,
    committeeSubscriptions,
    syncSubscriptions,
    registrations,
  };
}
