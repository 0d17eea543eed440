import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { cellsOfColumns } from "../../data/column-sidecars.ts";
import type { Kzg } from "../../data/kzg.ts";
import { blockRootOfSidecar, type DataSidecar, isColumn } from "../../data/sidecar.ts";

export interface SidecarsOfBlock {
  block: { signed: SignedBeaconBlock; root: RootHex };
  sidecars: readonly DataSidecar[];
}

export class WrongSidecarError extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.name = "WrongSidecarError";
    this.index = index;
  }
}

export async function verifySidecars(
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  entries: readonly SidecarsOfBlock[],
): Promise<void> {
  for (const { block, sidecars } of entries) {
    for (const sidecar of sidecars) {
      const isProven =
        blockRootOfSidecar(sidecar) === block.root &&
        (isColumn(sidecar)
          ? await kzg.verifyCells(cellsOfColumns([sidecar]))
          : await kzg.verifyBlobs({
              blobs: [sidecar.blob],
              commitments: [sidecar.kzgCommitment],
              proofs: [sidecar.kzgProof],
            }));
      if (!isProven) throw new WrongSidecarError(sidecar.index, "The proof does not fit.");
    }
  }
}
