import { CELLS_PER_EXT_BLOB } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { ALL_COLUMNS } from "../../data/column-sidecars.ts";
import type { Kzg } from "../../data/kzg.ts";
import { ForeseenError } from "../../foreseen-error.ts";

/** So many columns are enough to make all others of, and the first so many are the blobs themselves. */
const HALF = CELLS_PER_EXT_BLOB / 2;

/** What a block commits to is not here. */
export class DataUnavailableError extends ForeseenError {
  constructor(message: string) {
    super(message);
    this.name = "DataUnavailableError";
  }
}

/** The blobs of a block, from any half of its columns. */
export async function blobsOfColumns(
  kzg: Kzg,
  blobCount: number,
  read: (column: number) => Promise<Uint8Array | null>,
): Promise<Uint8Array[]> {
  const columns = new Map<number, Uint8Array[]>();
  for (const index of ALL_COLUMNS) {
    if (columns.size === HALF) break;
    const bytes = await read(index);
    if (bytes) columns.set(index, ssz.fulu.DataColumnSidecar.deserialize(bytes).column);
  }
  if (columns.size < HALF) {
    throw new DataUnavailableError(`Only ${columns.size} columns are here, and blobs can be made of ${HALF}.`);
  }
  const indices = [...columns.keys()];
  const isFirstHalf = indices.at(-1) === HALF - 1;
  return Promise.all(
    Array.from({ length: blobCount }, async (_, row) => {
      const known = indices.map((index) => columns.get(index)![row]!);
      const cells = isFirstHalf ? known : (await kzg.recover(indices, known)).cells.slice(0, HALF);
      return new Uint8Array(Buffer.concat(cells));
    }),
  );
}
