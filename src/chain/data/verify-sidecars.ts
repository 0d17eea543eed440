import type { BeaconConfig } from "@lodestar/config";
import { byteArrayEquals } from "@lodestar/utils";
import { isBlobOfItsHeader } from "../../data/blob-sidecars.ts";
import { cellsOfColumns, faultOfColumn, isColumnOfItsHeader } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { Kzg } from "../../data/kzg.ts";
import { blockRootOfSidecar, type DataSidecar, isColumn } from "../../data/sidecar.ts";
import { ForeseenError } from "../../foreseen-error.ts";
import type { CommittingBlock } from "./data-availability.ts";

/** What is said to be data of a block. */
export interface SidecarsOfBlock {
  block: CommittingBlock;
  sidecars: readonly DataSidecar[];
}

/** A sidecar is not one of the block that it was brought for. */
export class WrongSidecarError extends ForeseenError {
  readonly index: number;

  constructor({ block, sidecar, fault }: { block: CommittingBlock; sidecar: DataSidecar; fault: string }) {
    super(`Sidecar ${sidecar.index} of the block of slot ${block.signed.message.slot} is wrong: ${fault}`);
    this.name = "WrongSidecarError";
    this.index = sidecar.index;
  }
}

/** @throws WrongSidecarError with the first that is wrong */
export async function verifySidecars(
  config: BeaconConfig,
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  entries: readonly SidecarsOfBlock[],
): Promise<void> {
  for (const { block, sidecars } of entries) {
    for (const sidecar of sidecars) {
      const fault = faultOf(config, block, sidecar) ?? (await faultOfProof(kzg, sidecar));
      if (fault !== undefined) throw new WrongSidecarError({ block, sidecar, fault });
    }
  }
}

function faultOf(config: BeaconConfig, { signed, root }: CommittingBlock, sidecar: DataSidecar): string | undefined {
  if (blockRootOfSidecar(sidecar) !== root) return "its header is not that of the block.";
  if (isColumn(sidecar)) {
    if (!isColumnOfItsHeader(sidecar)) return "its inclusion proof does not lead to the block.";
    return faultOfColumn(config, sidecar);
  }
  const commitment = commitmentsOf(signed)[sidecar.index];
  if (!commitment || !byteArrayEquals(commitment, sidecar.kzgCommitment)) return "the block has another commitment.";
  return isBlobOfItsHeader(sidecar) ? undefined : "its inclusion proof does not lead to the block.";
}

async function faultOfProof(
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  sidecar: DataSidecar,
): Promise<string | undefined> {
  const isProven = isColumn(sidecar)
    ? await kzg.verifyCells(cellsOfColumns([sidecar]))
    : await kzg.verifyBlobs({
        blobs: [sidecar.blob],
        commitments: [sidecar.kzgCommitment],
        proofs: [sidecar.kzgProof],
      });
  return isProven ? undefined : "its KZG proof does not fit its data and its commitment.";
}
