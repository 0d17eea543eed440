import { CELLS_PER_EXT_BLOB, NUMBER_OF_COLUMNS } from "@lodestar/params";
import type { fulu, RootHex, Slot } from "@lodestar/types";
import { ALL_COLUMNS } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { CellsAndProofs, Kzg } from "../../data/kzg/kzg.ts";
import { type DataSidecar, isColumn } from "../../data/sidecar.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { CommittingBlock } from "./committing-block.ts";

/** From so many columns on, all others can be computed (fulu/das-core.md, recover_matrix). */
export const ENOUGH_COLUMNS = NUMBER_OF_COLUMNS / 2;

/** The cells of these are the blob as it is; the others extend it. */
const BLOB_COLUMNS = ALL_COLUMNS.slice(0, CELLS_PER_EXT_BLOB / 2);

/** Data of a block is not here. A whole sentence. */
export class DataUnavailableError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "DataUnavailableError";
  }
}

interface HeldData {
  kzg: Pick<Kzg, "recover">;
  /** How many columns of each block the node keeps. */
  keptColumns: number;
  hasColumns(slot: Slot): boolean;
  /** Those that are here; all of them, unless indices are named. */
  sidecars(block: { root: RootHex; slot: Slot }, indices?: readonly number[]): Promise<DataSidecar[]>;
}

/**
 * The blobs of a block, in the order of its commitments.
 *
 * @throws DataUnavailableError
 */
export async function blobsOfBlock({ signed, root }: CommittingBlock, held: HeldData): Promise<Uint8Array[]> {
  const { slot } = signed.message;
  const { length } = commitmentsOf(signed);
  if (length === 0) return [];
  const block = { root, slot };
  return held.hasColumns(slot) ? fromColumns(block, length, held) : fromBlobSidecars(block, length, held);
}

async function fromBlobSidecars(
  block: { root: RootHex; slot: Slot },
  count: number,
  { sidecars }: HeldData,
): Promise<Uint8Array[]> {
  const blobs = (await sidecars(block)).flatMap((sidecar) => (isColumn(sidecar) ? [] : [sidecar.blob]));
  if (blobs.length === count) return blobs;
  throw new DataUnavailableError(`Of the ${count} blobs of the block of slot ${block.slot}, ${blobs.length} are here.`);
}

async function fromColumns(block: { root: RootHex; slot: Slot }, count: number, held: HeldData): Promise<Uint8Array[]> {
  const blobColumns = await columnsOf(block, held, BLOB_COLUMNS);
  const rows = Array.from({ length: count }, (_, row) => row);
  if (blobColumns.length === BLOB_COLUMNS.length) {
    return rows.map((row) => joined(blobColumns.map(({ column }) => column[row]!)));
  }
  const columns = await columnsOf(block, held);
  if (columns.length < ENOUGH_COLUMNS) {
    throw new DataUnavailableError(
      `Of the block of slot ${block.slot}, ${columns.length} of ${NUMBER_OF_COLUMNS} columns are here, and ` +
        `${ENOUGH_COLUMNS} are needed for its blobs. This node keeps ${held.keptColumns} of ${NUMBER_OF_COLUMNS} ` +
        "columns; with --supernode it keeps all.",
    );
  }
  const recovered = await recoverBlobs(held.kzg, columns);
  return recovered.map(({ cells }) => joined(cells.slice(0, BLOB_COLUMNS.length)));
}

async function columnsOf(
  block: { root: RootHex; slot: Slot },
  { sidecars }: HeldData,
  indices?: readonly number[],
): Promise<fulu.DataColumnSidecar[]> {
  return (await sidecars(block, indices)).filter(isColumn);
}

/** All cells and proofs of the blobs of a block, from at least half of its columns. */
export function recoverBlobs(
  kzg: Pick<Kzg, "recover">,
  columns: readonly fulu.DataColumnSidecar[],
): Promise<CellsAndProofs[]> {
  const known = columns.slice(0, ENOUGH_COLUMNS);
  const indices = known.map(({ index }) => index);
  const blobs = known[0]?.column ?? [];
  return Promise.all(
    blobs.map((_, row) =>
      kzg.recover(
        indices,
        known.map(({ column }) => column[row]!),
      ),
    ),
  );
}

const joined = (cells: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(cells));
