import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { type deneb, type fulu, ssz } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import { blobsOfSidecars, isBlobOfItsHeader } from "../../data/blob-sidecars.ts";
import { cellsOfColumns, faultOfColumn, isColumnOfItsHeader } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { Kzg } from "../../data/kzg/kzg.ts";
import { blockRootOfSidecar, type DataSidecar, isColumn } from "../../data/sidecar.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { CommittingBlock } from "./committing-block.ts";

/** What is said to be data of a block. */
export interface SidecarsOfBlock {
  block: CommittingBlock;
  sidecars: readonly DataSidecar[];
}

/** A sidecar is not one of the block that it was brought for. */
export class WrongSidecarError extends OperationalError {
  readonly block: CommittingBlock;
  /** Of the sidecar, as it says itself. */
  readonly index: number;

  constructor({ block, sidecar, fault }: { block: CommittingBlock; sidecar: DataSidecar; fault: string }) {
    const what = isColumn(sidecar) ? "Column" : "Blob";
    super(`${what} ${sidecar.index} of the block of slot ${block.signed.message.slot} is wrong: ${fault}`);
    this.name = "WrongSidecarError";
    this.block = block;
    this.index = sidecar.index;
  }
}

/**
 * Verifies what was fetched or published for blocks that are known, all of it with one batch of proofs.
 *
 * @throws WrongSidecarError with the first that is wrong
 */
export async function verifySidecars(
  config: BeaconConfig,
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  entries: readonly SidecarsOfBlock[],
): Promise<void> {
  for (const entry of entries) refuseFaults(config, entry);
  if (await areProven(kzg, entries)) return;
  for (const { block, sidecars } of entries) {
    if (await areProven(kzg, [{ block, sidecars }])) continue;
    for (const sidecar of sidecars) {
      if (await areProven(kzg, [{ block, sidecars: [sidecar] }])) continue;
      throw new WrongSidecarError({ block, sidecar, fault: "its KZG proof does not fit its data and its commitment." });
    }
  }
}

async function areProven(
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  entries: readonly SidecarsOfBlock[],
): Promise<boolean> {
  const blobs: deneb.BlobSidecar[] = [];
  const columns: fulu.DataColumnSidecar[] = [];
  for (const { sidecars } of entries) {
    for (const sidecar of sidecars) {
      if (isColumn(sidecar)) columns.push(sidecar);
      else blobs.push(sidecar);
    }
  }
  const verdicts = await Promise.all([
    kzg.verifyBlobs(blobsOfSidecars(blobs)),
    kzg.verifyCells(cellsOfColumns(columns)),
  ]);
  return verdicts.every((verdict) => verdict);
}

/** All that can be told without computing with commitments. */
function refuseFaults(config: BeaconConfig, { block, sidecars }: SidecarsOfBlock): void {
  const indices = new Set<number>();
  for (const sidecar of sidecars) {
    const fault = indices.has(sidecar.index) ? "it came twice." : faultOf(config, block, sidecar);
    if (fault !== undefined) throw new WrongSidecarError({ block, sidecar, fault });
    indices.add(sidecar.index);
  }
}

function faultOf(config: BeaconConfig, block: CommittingBlock, sidecar: DataSidecar): string | undefined {
  return (
    faultOfKind(config, block, sidecar) ??
    faultOfHeader(block, sidecar) ??
    (isColumn(sidecar) ? faultOfColumnIn(config, block, sidecar) : faultOfBlobIn(block, sidecar))
  );
}

function faultOfKind(config: BeaconConfig, { signed }: CommittingBlock, sidecar: DataSidecar): string | undefined {
  const hasColumns = config.getForkSeq(signed.message.slot) >= ForkSeq.fulu;
  if (hasColumns === isColumn(sidecar)) return undefined;
  const kind = hasColumns ? "columns from fulu on" : "blob sidecars before fulu";
  return `the data of blocks is in ${kind}.`;
}

/** A header has one valid signature only, which is that of the block. */
function faultOfHeader({ signed, root }: CommittingBlock, sidecar: DataSidecar): string | undefined {
  const itsRoot = blockRootOfSidecar(sidecar);
  if (itsRoot !== root) return `its header is that of the block ${itsRoot}, not of ${root}.`;
  if (byteArrayEquals(sidecar.signedBlockHeader.signature, signed.signature)) return undefined;
  return "its header has another signature than the block.";
}

function faultOfBlobIn({ signed }: CommittingBlock, sidecar: deneb.BlobSidecar): string | undefined {
  const commitments = commitmentsOf(signed);
  const commitment = commitments[sidecar.index];
  if (commitment === undefined) return `the block commits to ${commitments.length} blobs, counted from 0.`;
  if (!byteArrayEquals(sidecar.kzgCommitment, commitment)) return OTHER_COMMITMENT;
  return isBlobOfItsHeader(sidecar) ? undefined : WRONG_INCLUSION;
}

function faultOfColumnIn(
  config: BeaconConfig,
  { signed }: CommittingBlock,
  sidecar: fulu.DataColumnSidecar,
): string | undefined {
  const fault = faultOfColumn(config, sidecar);
  if (fault !== undefined) return fault;
  if (!ssz.deneb.BlobKzgCommitments.equals(sidecar.kzgCommitments, commitmentsOf(signed))) return OTHER_COMMITMENT;
  return isColumnOfItsHeader(sidecar) ? undefined : WRONG_INCLUSION;
}

const OTHER_COMMITMENT = "what it commits to is not what the block commits to.";
const WRONG_INCLUSION = "its inclusion proof does not lead to the block.";
