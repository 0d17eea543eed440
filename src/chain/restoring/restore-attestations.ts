import { Signature } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { type Attestation, type electra, type gloas, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { toCheckpoint } from "../import/fork-choice-import.ts";
import { attestationVotes } from "../operation-processor.ts";
import type { PooledAttestations } from "../pools/pool-storage.ts";
import type { Pools } from "../pools/pools.ts";
import type { StateStore } from "../states/state-store.ts";

interface RestoreParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  states: StateStore;
  pools: Pools;
}

/**
 * Restores to the pools and to fork choice the attestations and contributions that were pooled at the last shutdown.
 * Skips entries that do not fit the current chain. Ignores entries from before finality, which a crash may have left
 * behind. Payload attestations only return to their pool; `restoreRecentBlocks` restores the votes of fork choice.
 */
export async function restoreAttestations(
  { attestations, contributions, payloadAttestations }: PooledAttestations,
  parts: RestoreParts,
): Promise<{ leftOut: number }> {
  for (const contribution of contributions) parts.pools.syncCommittee.addContribution(contribution);
  restorePayloadAttestations(payloadAttestations, parts);
  let leftOut = 0;
  for (const attestation of attestations) {
    if (attestation.data.target.epoch < parts.forkChoice.finalized.epoch) continue;
    const isRestored = await restoreOne(attestation, parts).catch(() => false);
    if (!isRestored) leftOut++;
  }
  return { leftOut };
}

/** Ignores attestations that no block can include any more. */
function restorePayloadAttestations(
  attestations: readonly gloas.PayloadAttestation[],
  { forkChoice, pools }: RestoreParts,
): void {
  for (const { data, aggregationBits: bits, signature } of attestations) {
    const isRecent = data.slot <= forkChoice.currentSlot && data.slot + 1 >= forkChoice.currentSlot;
    if (!isRecent || forkChoice.get(toRootHex(data.beaconBlockRoot))?.slot !== data.slot) continue;
    pools.payloadAttestations.addAggregate({ data, bits, signature });
  }
}

async function restoreOne(
  attestation: Attestation,
  { config, forkChoice, states, pools }: RestoreParts,
): Promise<boolean> {
  const { data, aggregationBits, signature } = attestation;
  const target = toCheckpoint(data.target);
  const blockRoot = toRootHex(data.beaconBlockRoot);
  // Any other target epoch might be so far ahead that its state is never reached.
  if (data.slot > forkChoice.currentSlot || target.epoch !== computeEpochAtSlot(data.slot)) return false;
  if (forkChoice.ancestorAtSlot(blockRoot, computeStartSlotAtEpoch(target.epoch)) !== target.root) return false;
  const isPostElectra = config.getForkSeq(data.slot) >= ForkSeq.electra;
  const committeeIndex = isPostElectra
    ? (attestation as electra.Attestation).committeeBits.getSingleTrueBit()
    : data.index;
  if (committeeIndex === null) return false;
  const { epochCtx } = await states.atCheckpoint(target);
  const committee = epochCtx.getBeaconCommittee(data.slot, committeeIndex);
  const indices = aggregationBits.intersectValues(committee);
  // The pool decodes signatures lazily, so invalid ones must be detected here.
  Signature.fromBytes(signature);
  pools.attestations.addAggregate({
    data,
    dataRoot: toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data)),
    committeeIndex,
    committee,
    bits: aggregationBits,
    signature,
    fork: config.getForkName(data.slot),
  });
  forkChoice.onAttestation(attestationVotes({ config }, data, indices));
  return true;
}
