import { concatGindices, type Gindex, type Node } from "@chainsafe/persistent-merkle-tree";
import { toRootHex } from "@lodestar/utils";
import { invalidParams } from "../../errors/failure.ts";
import type { ProofQuestion, ProofTarget } from "../params/proof-paths.ts";
import { described, either, type JsonSchema, list, nothing, object, shape } from "../schemas.ts";
import { createMerkleProof, nestedPair } from "./merkle-proof.ts";
import {
  placeAtGindex,
  placeAtPath,
  type SszObject,
  type SszPlace,
  smallValueAt,
  type TreePlace,
} from "./ssz-place.ts";

/** What takes more bytes in SSZ is asked for by the methods that are there for it. */
const MAX_VALUE_BYTES = 1024;

/** The tree that a proof goes up, in which the object may be a part. */
export interface ProvenTree {
  readonly root: Node;
  /** Of the object within the tree. */
  readonly gindex: Gindex;
}

/** A single branch where one path was asked for, and a multiproof where a list was. */
export function proofAnswer({ targets, isList }: ProofQuestion, proven: SszObject, { root, gindex }: ProvenTree) {
  const places = targets.map((target) => inTree(gindex, placeOf(proven, target)));
  const gindices = new Set(places.map((place) => place.gindex));
  if (isList) refuseOverlaps(targets, places);
  const { leaves, witnesses } = createMerkleProof(root, gindices);
  const common = { root: toRootHex(root.root) };
  if (isList) {
    return {
      ...common,
      leaves: leaves.map((leaf) => ({ gindex: String(leaf.gindex), leaf: leaf.root })),
      witnesses: witnesses.map((witness) => ({ gindex: String(witness.gindex), node: witness.root })),
      values: places.map((place) => ({ gindex: String(place.gindex), ...valueAt(place) })),
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
    ...valueAt(places[0]!),
  };
}

const VALUE = {
  value: described(
    {},
    `The JSON of what is proven; null where it takes more than ${MAX_VALUE_BYTES} bytes or is no field.`,
  ),
  offset: described(
    either(shape("Uint64"), nothing),
    "The first byte of the value within the leaf; null where the leaf is the root of what is proven.",
  ),
  bit: described(either(shape("Uint64"), nothing), "Of a bit, which one of that byte it is, from the lowest."),
};

/** The schema of an answer, with what stands beside every proof. */
export function proofSchema(beside: Record<string, JsonSchema>) {
  const common = { root: described(shape("Root"), "What the proof leads to."), ...beside };
  const gindex = shape("Uint64");
  return either(
    described(
      object({
        ...common,
        gindex,
        depth: shape("Uint64"),
        index: described(shape("Uint64"), "The generalized index without its highest bit."),
        leaf: shape("Root"),
        branch: described(list(shape("Root")), "The siblings, from that of the leaf on up."),
        ...VALUE,
      }),
      "Of one path or generalized index.",
    ),
    described(
      object({
        ...common,
        leaves: described(list(object({ gindex, leaf: shape("Root") })), "Each once, by falling generalized index."),
        witnesses: described(
          list(object({ gindex, node: shape("Root") })),
          "The other nodes that the root follows from, by falling generalized index.",
        ),
        values: described(list(object({ gindex, ...VALUE })), "In the order of the question."),
      }),
      "Of a list of them: a multiproof.",
    ),
  );
}

type Place = TreePlace & Partial<SszPlace>;

function placeOf(proven: SszObject, target: ProofTarget): Place {
  return typeof target === "bigint" ? placeAtGindex(proven, target) : placeAtPath(proven, target);
}

function inTree(gindex: Gindex, place: Place): Place {
  return { ...place, gindex: concatGindices([gindex, place.gindex]) };
}

function valueAt(place: Place) {
  const { type, offset, bit } = place;
  return {
    value: type === undefined ? null : smallValueAt({ ...place, type }, MAX_VALUE_BYTES),
    offset: offset === undefined ? null : String(offset),
    bit: bit === undefined ? null : String(bit),
  };
}

function refuseOverlaps(targets: readonly ProofTarget[], places: readonly Place[]): void {
  const seen = new Set<string>();
  for (const [position, { gindex, offset, bit }] of places.entries()) {
    const key = `${gindex} ${offset} ${bit}`;
    if (seen.has(key)) throw invalidParams(`The list asks for ${shown(targets[position]!)} twice; once is enough.`);
    seen.add(key);
  }
  // Who verifies a multiproof works the outer one out of the inner one, and would take any other for it.
  const nested = nestedPair(places.map(({ gindex }) => gindex));
  if (nested === undefined) return;
  const [outer, inner] = nested.map((gindex) => shown(targets[places.findIndex((place) => place.gindex === gindex)]!));
  throw invalidParams(`${inner} is a part of ${outer}, so that one proof cannot hold both: ask for each on its own.`);
}

const shown = (target: ProofTarget) => (typeof target === "bigint" ? `the node ${target}` : JSON.stringify(target));
