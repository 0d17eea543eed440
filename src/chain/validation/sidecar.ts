import type { BeaconConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { blockRootOfSidecar, type HeaderSidecar, subnetOfSidecar } from "../../data/sidecar.ts";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import {
  refuseFinalizedSlot,
  refuseInvalidParent,
  refuseUnknownProposer,
  verifyProposerDuty,
  verifyProposerSignature,
} from "./proposal.ts";
import { refuseFutureSlot } from "./time-window.ts";

/** Rules that differ between blob and column sidecars. */
export interface SidecarRules<Sidecar extends HeaderSidecar> {
  /** Subject of error messages. */
  what: string;
  /** Throws a `GossipValidationError` for an invalid index or list length. */
  refuseWrongForm(config: BeaconConfig, sidecar: Sidecar): void;
  verifyInclusion(sidecar: Sidecar): boolean;
  verifyProof(kzg: ValidationContext["kzg"], sidecar: Sidecar): Promise<boolean>;
}

/**
 * Validates a sidecar against the rules shared by blobs and columns. Rules that do not need the parent are checked
 * first, and cheap rules before expensive ones. Returns the block root.
 */
export async function validateSidecar<Sidecar extends HeaderSidecar>(
  context: ValidationContext,
  sidecar: Sidecar,
  subnet: number,
  { what, refuseWrongForm, verifyInclusion, verifyProof }: SidecarRules<Sidecar>,
): Promise<RootHex> {
  const { config, seen, signedHeaders, headersOnDuty, kzg } = context;
  const { index, signedBlockHeader } = sidecar;
  const { message: header, signature } = signedBlockHeader;
  const { slot, proposerIndex } = header;
  refuseWrongForm(config, sidecar);
  const expectedSubnet = subnetOfSidecar(config, sidecar);
  if (subnet !== expectedSubnet) {
    throw reject(
      "wrong-subnet",
      `${what} with index ${index} arrived on subnet ${subnet}, but belongs to subnet ${expectedSubnet}.`,
    );
  }
  refuseFutureSlot(context, slot, what);
  refuseFinalizedSlot(context, slot, what);
  const root = blockRootOfSidecar(sidecar);
  refuseSecondSidecar(context, sidecar, root, what);
  refuseUnknownProposer(context, header, what);
  if (!verifyInclusion(sidecar)) {
    throw reject("bad-inclusion-proof", `${what} ${index} of slot ${slot} has an invalid inclusion proof.`);
  }

  const proposal = { proposal: header, root: fromHex(root), signature };
  await signedHeaders.verify(signedBlockHeader, () => verifyProposerSignature(context, proposal, what));
  refuseInvalidParent(context, proposal, what);
  await headersOnDuty.verify(signedBlockHeader, () => verifyProposerDuty(context, header, what));
  if (!(await verifyProof(kzg, sidecar))) {
    throw reject("bad-kzg-proof", `${what} ${index} of slot ${slot} has an invalid KZG proof.`);
  }

  // Another sidecar of this block or of a conflicting block may have been accepted during validation.
  refuseSecondSidecar(context, sidecar, root, what);
  seen.sidecars.add(slot, proposerIndex, index, root);
  return root;
}

function refuseSecondSidecar(
  { seen }: ValidationContext,
  { index, signedBlockHeader }: HeaderSidecar,
  root: RootHex,
  what: string,
): void {
  const { slot, proposerIndex } = signedBlockHeader.message;
  const seenRoot = seen.sidecars.root(slot, proposerIndex, index);
  if (seenRoot === undefined) return;
  if (seenRoot === root) throw alreadyKnown(`${what} ${index} of block ${root} is already known.`);
  throw ignore(
    "conflicting-block",
    `${what} ${index} of slot ${slot} belongs to block ${root}, but validator ${proposerIndex} already proposed ` +
      `block ${seenRoot}.`,
  );
}
