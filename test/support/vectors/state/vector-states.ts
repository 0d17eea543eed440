import { type ForkName, ForkSeq } from "@lodestar/params";
import type { BeaconStateAllForks, CachedBeaconStateGloas } from "@lodestar/state-transition";
import { type BeaconState, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect } from "vitest";
import type { VectorCase } from "../vector-case.ts";
import { cachedVectorState } from "../vector-config.ts";

export const forkOf = (vector: VectorCase): ForkName => vector.path.fork as ForkName;

export const forkSeqOf = (vector: VectorCase): ForkSeq => ForkSeq[forkOf(vector)];

/** meta.yaml: 2 if signatures must not be verified. */
export function verifiesSignatures(vector: VectorCase): boolean {
  return vector.yamlOr<{ bls_setting?: number }>("meta", {}).bls_setting !== 2;
}

export function readState(vector: VectorCase, name: string, fork = forkOf(vector)): BeaconStateAllForks {
  return sszTypesFor(fork).BeaconState.deserializeToViewDU(vector.bytes(name));
}

/** Returns the state before the case, with caches. Vectors of single functions exist since gloas. */
export function preState(vector: VectorCase, fork = forkOf(vector)): CachedBeaconStateGloas {
  return cachedVectorState(fork, readState(vector, "pre", fork)) as CachedBeaconStateGloas;
}

/** Compares a state with the one after the case, and names the differing fields. */
export function expectPost(vector: VectorCase, state: BeaconStateAllForks): void {
  state.commit();
  const actual = toRootHex(state.hashTreeRoot());
  const post = readState(vector, "post");
  const expected = toRootHex(post.hashTreeRoot());
  if (actual === expected) return;
  const type = sszTypesFor(forkOf(vector)).BeaconState;
  const plain = (view: BeaconStateAllForks) => type.toJson(type.deserialize(view.serialize()) as BeaconState);
  expect(plain(state)).toEqual(plain(post));
  expect(actual).toBe(expected);
}

/**
 * Runs a function on the state before the case. If the case has a state after it, the result must be equal to that;
 * otherwise the function must throw.
 */
export function expectResult(vector: VectorCase, run: () => BeaconStateAllForks): void {
  if (vector.has("post")) {
    expectPost(vector, run());
    return;
  }
  let result: BeaconStateAllForks | undefined;
  try {
    result = run();
  } catch (error) {
    // A missing bounds check, not a rule.
    if (error instanceof TypeError) throw error;
  }
  if (result !== undefined) throw new Error("The case is invalid, but was accepted.");
}
