import type { Type } from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { CONSENSUS_FORKS } from "../../src/dev/forks.ts";
import { serializeInSlices } from "../../src/ssz/streaming.ts";
import { isFullTier } from "../support/suite/tier.ts";
import { exactType } from "../support/vectors/exact-type.ts";
import { titled } from "../support/vectors/sample.ts";
import { skipsOtherVectors, vectorCases } from "../support/vectors/vector-source.ts";

/** Types of an optional feature, partial columns, which the library lacks. */
const MISSING = ["PartialDataColumnGroupID", "PartialDataColumnPartsMetadata", "PartialDataColumnSidecar"];

/** Returns the type as of gloas; null if the library lacks it. */
function typeOf(name: string): Type<unknown> | null {
  const byFork = ssz as unknown as Record<string, Record<string, Type<unknown>>>;
  const fork = CONSENSUS_FORKS.toReversed().find((candidate) => byFork[candidate]?.[name] !== undefined);
  return fork === undefined ? null : byFork[fork]![name]!;
}

const CASES = vectorCases("gloas", "ssz_static");
/** In npm test, one case of each type. */
const IN_TIER = isFullTier ? CASES : CASES.filter(({ path }) => path.suite === "ssz_random" && path.name === "case_0");

describe("gloas ssz_static", () => {
  it("the library has all types but those of partial columns", () => {
    const names = new Set(CASES.map(({ path }) => path.handler));
    expect([...names].filter((name) => typeOf(name) === null)).toEqual(MISSING);
  });

  it.each(titled(IN_TIER.filter(({ path }) => !MISSING.includes(path.handler))))("%s", async (_, vector) => {
    const type = exactType(typeOf(vector.path.handler)!);
    const bytes = vector.bytes("serialized");
    const { root } = vector.yaml<{ root: string }>("roots");
    const value = type.deserialize(bytes);
    expect(toRootHex(type.hashTreeRoot(value))).toBe(root);
    expectBytes(type.serialize(value), bytes);
    const view = type.deserializeToViewDU(bytes) as ReturnType<typeof ssz.phase0.BeaconBlock.deserializeToViewDU>;
    expect(toRootHex(view.hashTreeRoot())).toBe(root);
    expectBytes(view.serialize(), bytes);
    expectBytes(await serializeInSlices(type, view.node), bytes);
  });

  if (isFullTier) {
    it("all cases of each mode are run", (context) => {
      context.skip(skipsOtherVectors !== undefined, skipsOtherVectors);
      expect(CASES.length).toBeGreaterThanOrEqual(1080);
    });
  }
});

function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(actual, expected)).toBe(0);
}
