import type { BeaconConfig, ForkBoundary } from "@lodestar/config";
import { FAR_FUTURE_EPOCH, ForkSeq } from "@lodestar/params";
import { type Epoch, type fulu, ssz } from "@lodestar/types";

/** Key-value pairs of an ENR. */
export type EnrEntries = Record<string, Uint8Array>;

/** Builds the consensus entries of the local ENR (phase0, altair and fulu/p2p-interface.md, ENR structure). */
export function enrEntries(config: BeaconConfig, epoch: Epoch, metadata: fulu.Metadata): EnrEntries {
  const next = nextBoundary(config, epoch);
  const entries: EnrEntries = {
    eth2: ssz.phase0.ENRForkID.serialize({
      forkDigest: config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(epoch)),
      nextForkVersion: config.getForkInfoAtEpoch(next?.epoch ?? epoch).version,
      nextForkEpoch: next?.epoch ?? FAR_FUTURE_EPOCH,
    }),
    attnets: ssz.phase0.AttestationSubnets.serialize(metadata.attnets),
  };
  if (config.getForkSeqAtEpoch(epoch) >= ForkSeq.altair) {
    entries.syncnets = ssz.altair.SyncSubnets.serialize(metadata.syncnets);
  }
  // Announced from the time the fork is scheduled.
  if (config.FULU_FORK_EPOCH !== FAR_FUTURE_EPOCH) {
    entries.cgc = withoutLeadingZeros(metadata.custodyGroupCount);
    entries.nfd = next ? config.forkBoundary2ForkDigest(next) : ssz.ForkDigest.defaultValue();
  }
  return entries;
}

/** Returns the next scheduled change of the fork digest: a fork or a change of the blob parameters. */
function nextBoundary(config: BeaconConfig, epoch: Epoch): ForkBoundary | undefined {
  const next = config.forkBoundariesAscendingEpochOrder.find(
    (boundary) => boundary.epoch > epoch && boundary.epoch !== FAR_FUTURE_EPOCH,
  );
  // If an epoch has several boundaries, the last one applies.
  return next && config.getForkBoundaryAtEpoch(next.epoch);
}

function withoutLeadingZeros(count: number): Uint8Array {
  const hex = count === 0 ? "" : count.toString(16);
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex"));
}
