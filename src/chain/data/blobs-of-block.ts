import { CELLS_PER_EXT_BLOB, NUMBER_OF_COLUMNS } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import { ALL_COLUMNS } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { CellsAndProofs, Kzg } from "../../data/kzg/kzg.ts";
import { type ColumnSidecar, type DataSidecar, isColumn } from "../../data/sidecar.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { BlockWithCommitments } from "./block-with-commitments.ts";

/** Number of columns from which all others can be recovered (fulu/das-core.md, recover_matrix). */
export const RECOVERY_COLUMNS = NUMBER_OF_COLUMNS / 2;

/** The cells in these columns form the blob; the other columns are the erasure-coded extension. */
const BLOB_COLUMNS = ALL_COLUMNS.slice(0, CELLS_PER_EXT_BLOB / 2);

/** Thrown if block data is not available. The message is a complete sentence. */
export class DataUnavailableError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "DataUnavailableError";
  }
}

interface SidecarSource {
  kzg: Pick<Kzg, "recover">;
  /** Number of columns stored per block. */
  keptColumns: number;
  hasColumns(slot: Slot): boolean;
  /** Returns the available sidecars, optionally limited to `indices`. */
  sidecars(block: { root: RootHex; slot: Slot }, indices?: readonly number[]): Promise<DataSidecar[]>;
}

/**
 * Returns the blobs of a block in commitment order.
 *
 * @throws DataUnavailableError
 */
export async function blobsOfBlock(
  { signed, root }: BlockWithCommitments,
  source: SidecarSource,
): Promise<Uint8Array[]> {
  const { slot } = signed.message;
  const { length } = commitmentsOf(signed);
  if (length === 0) return [];
  const block = { root, slot };
  return source.hasColumns(slot) ? fromColumns(block, length, source) : fromBlobSidecars(block, length, source);
}

async function fromBlobSidecars(
  block: { root: RootHex; slot: Slot },
  count: number,
  { sidecars }: SidecarSource,
): Promise<Uint8Array[]> {
  const blobs = (await sidecars(block)).flatMap((sidecar) => (isColumn(sidecar) ? [] : [sidecar.blob]));
  if (blobs.length === count) return blobs;
  throw new DataUnavailableError(
    `Only ${blobs.length} of ${count} blobs of the block at slot ${block.slot} are available.`,
  );
}

async function fromColumns(
  block: { root: RootHex; slot: Slot },
  count: number,
  source: SidecarSource,
): Promise<Uint8Array[]> {
  const blobColumns = await columnsOf(block, source, BLOB_COLUMNS);
  const rows = Array.from({ length: count }, (_, row) => row);
  if (blobColumns.length === BLOB_COLUMNS.length) {
    return rows.map((row) => joined(blobColumns.map(({ column }) => column[row]!)));
  }
  const columns = await columnsOf(block, source);
  if (columns.length < RECOVERY_COLUMNS) {
    const reason =
      source.keptColumns === NUMBER_OF_COLUMNS
        ? "The others were not published, or have not arrived."
        : `This node keeps ${source.keptColumns} of ${NUMBER_OF_COLUMNS} columns. Use --supernode to keep all.`;
    throw new DataUnavailableError(
      `Only ${columns.length} of ${NUMBER_OF_COLUMNS} columns of the block at slot ${block.slot} are available; ` +
        `${RECOVERY_COLUMNS} are needed for its blobs. ${reason}`,
    );
  }
  const recovered = await recoverBlobs(source.kzg, columns);
  return recovered.map(({ cells }) => joined(cells.slice(0, BLOB_COLUMNS.length)));
}

async function columnsOf(
  block: { root: RootHex; slot: Slot },
  { sidecars }: SidecarSource,
  indices?: readonly number[],
): Promise<ColumnSidecar[]> {
  return (await sidecars(block, indices)).filter(isColumn);
}

/** Recovers all cells and proofs of a block's blobs from at least half of its columns. */
export function recoverBlobs(kzg: Pick<Kzg, "recover">, columns: readonly ColumnSidecar[]): Promise<CellsAndProofs[]> {
  const usedColumns = columns.slice(0, RECOVERY_COLUMNS);
  const indices = usedColumns.map(({ index }) => index);
  const blobs = usedColumns[0]?.column ?? [];
  return Promise.all(
    blobs.map((_, row) =>
      kzg.recover(
        indices,
        usedColumns.map(({ column }) => column[row]!),
      ),
    ),
  );
}

const joined = (cells: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(cells));
