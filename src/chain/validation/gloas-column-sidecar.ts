import type { gloas, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { cellsOfColumns, faultOfGloasColumn } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import { subnetOfSidecar } from "../../data/sidecar.ts";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import { refuseUnknownBlock } from "./payloads/known-block.ts";
import { refuseFutureSlot } from "./time-window.ts";

const SUBJECT = "The column sidecar";

/**
 * Validates a sidecar against the rules of the topics data_column_sidecar_{subnet_id} (gloas/p2p-interface.md): it names
 * only its block, whose bid has the commitments. Marks it as seen and returns the block root.
 */
export async function validateGloasColumnSidecar(
  context: ValidationContext,
  sidecar: gloas.DataColumnSidecar,
  subnet: number,
): Promise<RootHex> {
  const { config, blocks, kzg, seen } = context;
  const { index, slot } = sidecar;
  const root = toRootHex(sidecar.beaconBlockRoot);
  refuseSecondColumn(context, sidecar, root);
  const expectedSubnet = subnetOfSidecar(config, sidecar);
  if (subnet !== expectedSubnet) {
    throw reject(
      "wrong-subnet",
      `${SUBJECT} with index ${index} arrived on subnet ${subnet}, but belongs to subnet ${expectedSubnet}.`,
    );
  }
  refuseFutureSlot(context, slot, SUBJECT);
  const block = refuseUnknownBlock(context, root, SUBJECT);
  if (slot !== block.slot) {
    throw reject("malformed-column", `${SUBJECT} has slot ${slot}, but its block ${root} has slot ${block.slot}.`);
  }
  if (block.bid === undefined) {
    throw reject("wrong-fork", `${SUBJECT} without a header is for block ${root} of slot ${slot}, before gloas.`);
  }
  const signed = await blocks.signedByRoot(root);
  if (!signed) throw ignore("unknown-block", `${SUBJECT} is for block ${root}, which is not stored.`);
  const commitments = commitmentsOf(signed);
  const fault = faultOfGloasColumn(sidecar, commitments);
  if (fault !== undefined) throw reject("malformed-column", `${SUBJECT} of slot ${slot} is malformed: ${fault}`);
  if (!(await kzg.verifyCells(cellsOfColumns([{ sidecar, commitments }])))) {
    throw reject("bad-kzg-proof", `${SUBJECT} ${index} of slot ${slot} has an invalid KZG proof.`);
  }
  // The same sidecar may have been accepted during validation.
  refuseSecondColumn(context, sidecar, root);
  seen.payloads.columns.add(slot, root, index);
  return root;
}

function refuseSecondColumn(
  { seen }: ValidationContext,
  { index, slot }: gloas.DataColumnSidecar,
  root: RootHex,
): void {
  if (seen.payloads.columns.has(slot, root, index)) {
    throw alreadyKnown(`${SUBJECT} ${index} of block ${root} is already known.`);
  }
}
