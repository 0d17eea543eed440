import { ForkSeq } from "@lodestar/params";
import type { fulu, RootHex } from "@lodestar/types";
import { cellsOfColumns, faultOfColumn, verifyColumnInclusion } from "../../data/column-sidecars.ts";
import type { ValidationContext } from "./context.ts";
import { reject } from "./outcome.ts";
import { type SidecarRules, validateSidecar } from "./sidecar.ts";

const SUBJECT = "The column sidecar";

/**
 * Validates a sidecar against the rules of the topics data_column_sidecar_{subnet_id} (fulu/p2p-interface.md). Returns
 * the block root.
 */
export function validateColumnSidecar(
  context: ValidationContext,
  sidecar: fulu.DataColumnSidecar,
  subnet: number,
): Promise<RootHex> {
  return validateSidecar(context, sidecar, subnet, RULES);
}

const RULES: SidecarRules<fulu.DataColumnSidecar> = {
  what: SUBJECT,
  refuseWrongForm(config, sidecar) {
    const { slot } = sidecar.signedBlockHeader.message;
    if (config.getForkSeq(slot) < ForkSeq.fulu) {
      throw reject("wrong-fork", `${SUBJECT} is for slot ${slot}, before fulu: blocks have columns from fulu on.`);
    }
    const fault = faultOfColumn(config, sidecar);
    if (fault !== undefined) throw reject("malformed-column", `${SUBJECT} of slot ${slot} is malformed. ${fault}`);
  },
  verifyInclusion: verifyColumnInclusion,
  verifyProof: (kzg, sidecar) => kzg.verifyCells(cellsOfColumns([{ sidecar, commitments: sidecar.kzgCommitments }])),
};
