import type { BeaconConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { blockRootOfSidecar, type DataSidecar, subnetOfSidecar } from "../../data/sidecar.ts";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import {
  refuseFinalizedSlot,
  refuseUnfitParent,
  refuseUnknownProposer,
  verifyProposerSignature,
  verifyTurn,
} from "./proposal.ts";
import { refuseFutureSlot } from "./time-window.ts";

/** In what the sidecars of one kind differ from others. */
export interface SidecarRules<Sidecar extends DataSidecar> {
  /** As sentences begin with it. */
  what: string;
  /** Throws a refusal when the index or the lengths of lists are wrong. */
  refuseWrongForm(config: BeaconConfig, sidecar: Sidecar): void;
  isOfItsHeader(sidecar: Sidecar): boolean;
  isProven(kzg: ValidationContext["kzg"], sidecar: Sidecar): Promise<boolean>;
}

/**
 * The rules that blob sidecars and columns have in common. Those that need no parent come first, cheap ones before others. Returns the root
 * of the block.
 */
export async function validateSidecar<Sidecar extends DataSidecar>(
  context: ValidationContext,
  sidecar: Sidecar,
  subnet: number,
  { what, refuseWrongForm, isOfItsHeader, isProven }: SidecarRules<Sidecar>,
): Promise<RootHex> {
  const { config, seen, signedHeaders, headersInTurn, kzg } = context;
  const { index, signedBlockHeader } = sidecar;
  const { message: header, signature } = signedBlockHeader;
  const { slot, proposerIndex } = header;
  refuseWrongForm(config, sidecar);
  const expectedSubnet = subnetOfSidecar(config, sidecar);
  if (subnet !== expectedSubnet) {
    throw reject(
      "wrong-subnet",
      `${what} has the index ${index}, which belongs to subnet ${expectedSubnet}, not ${subnet}.`,
    );
  }
  refuseFutureSlot(context, slot, what);
  refuseFinalizedSlot(context, slot, what);
  const root = blockRootOfSidecar(sidecar);
  refuseSecondSidecar(context, sidecar, root, what);
  refuseUnknownProposer(context, header, what);
  if (!isOfItsHeader(sidecar)) {
    throw reject(
      "bad-inclusion-proof",
      `${what} ${index} of slot ${slot} does not prove that its block commits to it.`,
    );
  }

  const proposal = { proposal: header, root: fromHex(root), signature };
  await signedHeaders.verify(signedBlockHeader, () => verifyProposerSignature(context, proposal, what));
  refuseUnfitParent(context, proposal, what);
  await headersInTurn.verify(signedBlockHeader, () => verifyTurn(context, header, what));
  if (!(await isProven(kzg, sidecar))) {
    throw reject("bad-kzg-proof", `${what} ${index} of slot ${slot} has data that its KZG proof does not fit.`);
  }

  // The same sidecar, or that of another block of the proposer, may have been accepted meanwhile.
  refuseSecondSidecar(context, sidecar, root, what);
  seen.sidecars.add(slot, proposerIndex, index, root);
  return root;
}

function refuseSecondSidecar(
  { seen }: ValidationContext,
  { index, signedBlockHeader }: DataSidecar,
  root: RootHex,
  what: string,
): void {
  const { slot, proposerIndex } = signedBlockHeader.message;
  const seenRoot = seen.sidecars.root(slot, proposerIndex, index);
  if (seenRoot === undefined) return;
  if (seenRoot === root) throw alreadyKnown(`${what} ${index} of the block ${root} was seen before.`);
  throw ignore(
    "conflicting-block",
    `${what} ${index} of slot ${slot} is of the block ${root}, but one of another block of validator ${proposerIndex} was seen before (${seenRoot}).`,
  );
}
