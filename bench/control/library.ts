import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import { LibraryImport } from "../import/library-import.ts";
import { recordChain } from "../import/record-chain.ts";
import { FORK, VALIDATORS } from "./benched-chain.ts";
import { perSecond, type Row, timed } from "./row.ts";

/** Measures the lower bound of a verifying node: the library's state transition, without and with signatures. */
export async function libraryRows(slots: number): Promise<Row[]> {
  const recorded = await recordChain(FORK, VALIDATORS, Math.ceil(slots / SLOTS_PER_EPOCH));
  const ways = [
    { what: "the library's state transition of the same blocks, no signatures", signatures: false },
    { what: "the same, signatures of a block in one batch", signatures: true },
  ];
  const rows: Row[] = [];
  for (const { what, signatures } of ways) {
    const library = new LibraryImport(recorded, { signatures });
    const blocks = recorded.blocks.map((bytes) => deserializeSignedBlock(recorded.config, bytes));
    const duration = await timed(() => {
      for (const block of blocks) library.import(block);
    });
    rows.push(perSecond(what, blocks.length, duration));
  }
  return rows;
}
