import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { type deneb, type fulu, type gloas, ssz } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import { blobsOfSidecars, verifyBlobInclusion } from "../../data/blob-sidecars.ts";
import {
  type CommittedColumn,
  cellsOfColumns,
  faultOfColumn,
  faultOfGloasColumn,
  verifyColumnInclusion,
} from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { Kzg } from "../../data/kzg/kzg.ts";
import {
  blockRootOfSidecar,
  type DataSidecar,
  type HeaderSidecar,
  hasHeader,
  isColumn,
  slotOfSidecar,
} from "../../data/sidecar.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { BlockWithCommitments } from "./block-with-commitments.ts";

/** Sidecars received for a block. */
export interface SidecarsOfBlock {
  block: BlockWithCommitments;
  sidecars: readonly DataSidecar[];
}

/** Thrown if a sidecar does not match its block. */
export class WrongSidecarError extends OperationalError {
  readonly block: BlockWithCommitments;
  /** Index stated in the sidecar. */
  readonly index: number;

  constructor({ block, sidecar, fault }: { block: BlockWithCommitments; sidecar: DataSidecar; fault: string }) {
    const what = isColumn(sidecar) ? "Column" : "Blob";
    super(`${what} ${sidecar.index} of the block at slot ${block.signed.message.slot} is invalid: ${fault}`);
    this.name = "WrongSidecarError";
    this.block = block;
    this.index = sidecar.index;
  }
}

/**
 * Verifies sidecars of known blocks, checking all proofs in one batch.
 *
 * @throws WrongSidecarError for the first invalid sidecar
 */
export async function verifySidecars(
  config: BeaconConfig,
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  entries: readonly SidecarsOfBlock[],
): Promise<void> {
  for (const entry of entries) refuseFaults(config, entry);
  if (await verifyProofs(kzg, entries)) return;
  for (const { block, sidecars } of entries) {
    if (await verifyProofs(kzg, [{ block, sidecars }])) continue;
    for (const sidecar of sidecars) {
      if (await verifyProofs(kzg, [{ block, sidecars: [sidecar] }])) continue;
      throw new WrongSidecarError({ block, sidecar, fault: "its KZG proof is invalid." });
    }
  }
}

async function verifyProofs(
  kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">,
  entries: readonly SidecarsOfBlock[],
): Promise<boolean> {
  const blobs: deneb.BlobSidecar[] = [];
  const columns: CommittedColumn[] = [];
  for (const { block, sidecars } of entries) {
    const commitments = commitmentsOf(block.signed);
    for (const sidecar of sidecars) {
      if (isColumn(sidecar)) columns.push({ sidecar, commitments });
      else blobs.push(sidecar);
    }
  }
  const verdicts = await Promise.all([
    kzg.verifyBlobs(blobsOfSidecars(blobs)),
    kzg.verifyCells(cellsOfColumns(columns)),
  ]);
  return verdicts.every((verdict) => verdict);
}

/** Checks everything except KZG proofs. */
function refuseFaults(config: BeaconConfig, { block, sidecars }: SidecarsOfBlock): void {
  const indices = new Set<number>();
  for (const sidecar of sidecars) {
    const fault = indices.has(sidecar.index) ? "it is a duplicate." : faultOf(config, block, sidecar);
    if (fault !== undefined) throw new WrongSidecarError({ block, sidecar, fault });
    indices.add(sidecar.index);
  }
}

function faultOf(config: BeaconConfig, block: BlockWithCommitments, sidecar: DataSidecar): string | undefined {
  const fault = faultOfKind(config, block, sidecar);
  if (fault !== undefined) return fault;
  if (!hasHeader(sidecar)) return faultOfGloasColumnIn(block, sidecar);
  return (
    faultOfHeader(block, sidecar) ??
    (isColumn(sidecar) ? faultOfColumnIn(config, block, sidecar) : faultOfBlobIn(block, sidecar))
  );
}

function faultOfKind(config: BeaconConfig, { signed }: BlockWithCommitments, sidecar: DataSidecar): string | undefined {
  const fork = config.getForkSeq(signed.message.slot);
  const hasColumns = fork >= ForkSeq.fulu;
  if (hasColumns !== isColumn(sidecar)) {
    return `blocks have ${hasColumns ? "column sidecars from fulu on" : "blob sidecars before fulu"}.`;
  }
  const needsHeader = fork < ForkSeq.gloas;
  if (needsHeader === hasHeader(sidecar)) return undefined;
  return `sidecars have ${needsHeader ? "the header of their block before gloas" : "no header from gloas on"}.`;
}

/** Returns why a sidecar's header does not match the block. A header's only valid signature is that of its block. */
function faultOfHeader({ signed, root }: BlockWithCommitments, sidecar: HeaderSidecar): string | undefined {
  const itsRoot = blockRootOfSidecar(sidecar);
  if (itsRoot !== root) return `its header has root ${itsRoot}, expected ${root}.`;
  if (byteArrayEquals(sidecar.signedBlockHeader.signature, signed.signature)) return undefined;
  return "its header's signature differs from the block's.";
}

function faultOfBlobIn({ signed }: BlockWithCommitments, sidecar: deneb.BlobSidecar): string | undefined {
  const commitments = commitmentsOf(signed);
  const commitment = commitments[sidecar.index];
  if (commitment === undefined) return `the block has only ${commitments.length} blobs.`;
  if (!byteArrayEquals(sidecar.kzgCommitment, commitment)) return OTHER_COMMITMENT;
  return verifyBlobInclusion(sidecar) ? undefined : WRONG_INCLUSION;
}

function faultOfColumnIn(
  config: BeaconConfig,
  { signed }: BlockWithCommitments,
  sidecar: fulu.DataColumnSidecar,
): string | undefined {
  const fault = faultOfColumn(config, sidecar);
  if (fault !== undefined) return fault;
  if (!ssz.deneb.BlobKzgCommitments.equals(sidecar.kzgCommitments, commitmentsOf(signed))) return OTHER_COMMITMENT;
  return verifyColumnInclusion(sidecar) ? undefined : WRONG_INCLUSION;
}

function faultOfGloasColumnIn(
  { signed, root }: BlockWithCommitments,
  sidecar: gloas.DataColumnSidecar,
): string | undefined {
  const [itsRoot, itsSlot] = [blockRootOfSidecar(sidecar), slotOfSidecar(sidecar)];
  if (itsRoot !== root) return `it names block ${itsRoot}, expected ${root}.`;
  if (itsSlot !== signed.message.slot) return `it names slot ${itsSlot}, expected ${signed.message.slot}.`;
  return faultOfGloasColumn(sidecar, commitmentsOf(signed));
}

const OTHER_COMMITMENT = "its commitments differ from the block's.";
const WRONG_INCLUSION = "its inclusion proof is invalid.";
