import type { BeaconConfig, ForkBoundary } from "@lodestar/config";
import { FAR_FUTURE_EPOCH, ForkSeq } from "@lodestar/params";
import { type Epoch, type fulu, ssz } from "@lodestar/types";

export type RecordEntries = Record<string, Uint8Array>;

/**
 * What a node's record (ENR) says about consensus beside its key and addresses: the sections "ENR structure" of the
 * networking specifications of phase0, altair and fulu.
 */
export function recordEntries(config: BeaconConfig, epoch: Epoch, metadata: fulu.Metadata): RecordEntries {
  const next = nextBoundary(config, epoch);
  const entries: RecordEntries = {
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
  // These two are announced as soon as the fork is scheduled, not only when it is there.
  if (config.FULU_FORK_EPOCH !== FAR_FUTURE_EPOCH) {
    entries.cgc = withoutLeadingZeros(metadata.custodyGroupCount);
    entries.nfd = next ? config.forkBoundary2ForkDigest(next) : ssz.ForkDigest.defaultValue();
  }
  return entries;
}

/** The next change of the fork digest that is planned, whether by a fork or by blob parameters alone. */
function nextBoundary(config: BeaconConfig, epoch: Epoch): ForkBoundary | undefined {
  const next = config.forkBoundariesAscendingEpochOrder.find(
    (boundary) => boundary.epoch > epoch && boundary.epoch !== FAR_FUTURE_EPOCH,
  );
  // Of several in one epoch, the last one counts.
  return next && config.getForkBoundaryAtEpoch(next.epoch);
}

function withoutLeadingZeros(count: number): Uint8Array {
  const hex = count === 0 ? "" : count.toString(16);
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex"));
}
