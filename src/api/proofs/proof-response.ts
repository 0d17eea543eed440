import { concatGindices, type Gindex, type Node } from "@chainsafe/persistent-merkle-tree";
import { toRootHex } from "@lodestar/utils";
import { invalidParams } from "../../errors/failure.ts";
import type { ProofRequest, ProofTarget } from "../params/proof-paths.ts";
import { createMerkleProof, findNestedPair } from "./merkle-proof.ts";
import { MAX_VALUE_BYTES } from "./proof-schemas.ts";
import {
  type ResolvedNode,
  type ResolvedValue,
  readSmallValue,
  resolveGindex,
  resolvePath,
  type SszObject,
} from "./ssz-path.ts";

/** The tree of a proof, of which the proven object is a subtree. */
export interface ProofTree {
  readonly root: Node;
  /** Generalized index of the object in the tree. */
  readonly gindex: Gindex;
}

/** Creates a single Merkle proof for one target, or a multiproof for a list of targets. */
export function createProofResponse({ targets, isList }: ProofRequest, proven: SszObject, { root, gindex }: ProofTree) {
  const resolved = targets.map((target) => toTreeGindex(gindex, resolveTarget(proven, target)));
  const gindices = new Set(resolved.map((each) => each.gindex));
  if (isList) rejectOverlaps(targets, resolved);
  const { leaves, witnesses } = createMerkleProof(root, gindices);
  const common = { root: toRootHex(root.root) };
  if (isList) {
    return {
      ...common,
      leaves: leaves.map((leaf) => ({ gindex: String(leaf.gindex), leaf: leaf.root })),
      witnesses: witnesses.map((witness) => ({ gindex: String(witness.gindex), node: witness.root })),
      values: resolved.map((each) => ({ gindex: String(each.gindex), ...valueAt(each) })),
    };
  }
  const [leaf] = leaves;
  const depth = witnesses.length;
  return {
    ...common,
    gindex: String(leaf!.gindex),
    depth: String(depth),
    index: String(leaf!.gindex - (1n << BigInt(depth))),
    leaf: leaf!.root,
    branch: witnesses.map((witness) => witness.root),
    ...valueAt(resolved[0]!),
  };
}

type ResolvedTarget = ResolvedNode & Partial<ResolvedValue>;

function resolveTarget(proven: SszObject, target: ProofTarget): ResolvedTarget {
  return typeof target === "bigint" ? resolveGindex(proven, target) : resolvePath(proven, target);
}

function toTreeGindex(gindex: Gindex, resolved: ResolvedTarget): ResolvedTarget {
  return { ...resolved, gindex: concatGindices([gindex, resolved.gindex]) };
}

function valueAt(resolved: ResolvedTarget) {
  const { type, offset, bit } = resolved;
  return {
    value: type === undefined ? null : readSmallValue({ ...resolved, type }, MAX_VALUE_BYTES),
    offset: offset === undefined ? null : String(offset),
    bit: bit === undefined ? null : String(bit),
  };
}

function rejectOverlaps(targets: readonly ProofTarget[], resolved: readonly ResolvedTarget[]): void {
  const seen = new Set<string>();
  for (const [position, { gindex, offset, bit }] of resolved.entries()) {
    const key = `${gindex} ${offset} ${bit}`;
    if (seen.has(key)) throw invalidParams(`Duplicate proof target ${describeTarget(targets[position]!)}.`);
    seen.add(key);
  }
  // A verifier computes the outer node from the inner one, so it would not check the outer leaf.
  const nested = findNestedPair(resolved.map(({ gindex }) => gindex));
  if (nested === undefined) return;
  const [outer, inner] = nested.map((gindex) =>
    describeTarget(targets[resolved.findIndex((each) => each.gindex === gindex)]!),
  );
  throw invalidParams(`One multiproof cannot contain both ${outer} and its part ${inner}. Request them separately.`);
}

const describeTarget = (target: ProofTarget) =>
  typeof target === "bigint" ? `node ${target}` : JSON.stringify(target);
