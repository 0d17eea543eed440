import { CELLS_PER_EXT_BLOB } from "@lodestar/params";
import type { Kzg } from "../../data/kzg/kzg.ts";
import type { Sidecar, SidecarKzg } from "../pool/sidecar.ts";

/** Verifies sidecars with the node's KZG backend. */
export function sidecarKzg(kzg: Pick<Kzg, "verifyBlobs" | "verifyCells" | "cellsOf" | "cellsAndProofsOf">): SidecarKzg {
  return {
    verify: async ({ version, blobs, commitments, proofs }: Sidecar): Promise<boolean> => {
      if (version === 0) return kzg.verifyBlobs({ blobs, commitments, proofs });
      const cells = await Promise.all(blobs.map((blob) => kzg.cellsOf(blob)));
      return kzg.verifyCells({
        commitments: cells.flatMap((each, index) => each.map(() => commitments[index]!)),
        cellIndices: cells.flatMap(() => Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => index)),
        cells: cells.flat(),
        proofs,
      });
    },
    upgrade: async ({ blobs, commitments }: Sidecar): Promise<Sidecar> => {
      const computed = await Promise.all(blobs.map((blob) => kzg.cellsAndProofsOf(blob)));
      return { version: 1, blobs, commitments, proofs: computed.flatMap(({ proofs }) => proofs) };
    },
  };
}
