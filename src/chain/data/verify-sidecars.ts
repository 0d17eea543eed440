import type { BeaconConfig } from "@lodestar/config";
import type { deneb, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import { isBlobOfItsHeader } from "../../data/blob-sidecars.ts";
import { cellsOfColumns, faultOfColumn, isColumnOfItsHeader } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { Kzg } from "../../data/kzg.ts";
import { blockRootOfSidecar, type DataSidecar, isColumn } from "../../data/sidecar.ts";
import { ForeseenError } from "../../foreseen-error.ts";

/** A sidecar that is not what its block commits to. */
export class WrongSidecarError extends ForeseenError {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.name = "WrongSidecarError";
    this.index = index;
  }
}

/** Verifies sidecars of a block that were not judged by the rules of gossip. */
export async function verifySidecars(
  config: BeaconConfig,
  kzg: Kzg,
  { signed, root }: { signed: SignedBeaconBlock; root: RootHex },
  sidecars: readonly DataSidecar[],
): Promise<void> {
  const commitments = commitmentsOf(signed);
  for (const sidecar of sidecars) {
    const { index } = sidecar;
    if (blockRootOfSidecar(sidecar) !== root) throw new WrongSidecarError(index, "It is of another block.");
    if (isColumn(sidecar)) {
      const fault = faultOfColumn(config, sidecar);
      if (fault) throw new WrongSidecarError(index, fault);
      if (!isColumnOfItsHeader(sidecar)) throw new WrongSidecarError(index, "Its commitments are not the block's.");
    } else if (!byteArrayEquals(sidecar.kzgCommitment, commitments[index]!) || !isBlobOfItsHeader(sidecar)) {
      throw new WrongSidecarError(index, "Its commitment is not the block's.");
    }
  }
  if (await areProven(kzg, sidecars)) return;
  for (const sidecar of sidecars) {
    if (await areProven(kzg, [sidecar])) continue;
    throw new WrongSidecarError(sidecar.index, "What it holds is not what the block commits to.");
  }
}

async function areProven(kzg: Kzg, sidecars: readonly DataSidecar[]): Promise<boolean> {
  const columns = sidecars.filter(isColumn);
  const blobs = sidecars.filter((sidecar): sidecar is deneb.BlobSidecar => !isColumn(sidecar));
  const verdicts = await Promise.all([
    kzg.verifyCells(cellsOfColumns(columns)),
    kzg.verifyBlobs({
      blobs: blobs.map(({ blob }) => blob),
      commitments: blobs.map(({ kzgCommitment }) => kzgCommitment),
      proofs: blobs.map(({ kzgProof }) => kzgProof),
    }),
  ]);
  return !verdicts.includes(false);
}
