import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { type Attestation, type electra, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import { toCheckpoint } from "./import/fork-choice-import.ts";
import type { PooledAttestations } from "./pools/pool-storage.ts";
import type { Pools } from "./pools/pools.ts";
import type { StateStore } from "./states/state-store.ts";

interface RestoreParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  states: StateStore;
  pools: Pools;
}

/** Puts attestations and contributions that were valid when the node stopped back into the pools and into fork choice. */
export async function restoreAttestations(
  { attestations, contributions }: PooledAttestations,
  parts: RestoreParts,
): Promise<void> {
  for (const contribution of contributions) parts.pools.syncCommittee.addContribution(contribution);
  for (const attestation of attestations) await restoreOne(attestation, parts);
}

async function restoreOne(
  attestation: Attestation,
  { config, forkChoice, states, pools }: RestoreParts,
): Promise<void> {
  const { data, aggregationBits, signature } = attestation;
  const target = toCheckpoint(data.target);
  const blockRoot = toRootHex(data.beaconBlockRoot);
  if (!forkChoice.has(blockRoot) || !forkChoice.has(target.root)) return;
  const isPostElectra = config.getForkSeq(data.slot) >= ForkSeq.electra;
  const committeeIndex = isPostElectra
    ? (attestation as electra.Attestation).committeeBits.getSingleTrueBit()
    : data.index;
  if (committeeIndex === null) return;
  const { epochCtx } = await states.atCheckpoint(target);
  const committee = epochCtx.getBeaconCommittee(data.slot, committeeIndex);
  pools.attestations.addAggregate({
    data,
    dataRoot: toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data)),
    committeeIndex,
    committee,
    bits: aggregationBits,
    signature,
    fork: config.getForkName(data.slot),
  });
  forkChoice.onAttestation({
    indices: aggregationBits.intersectValues(committee),
    slot: data.slot,
    targetEpoch: target.epoch,
    blockRoot,
  });
}
