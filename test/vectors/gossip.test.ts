import { minimalChainConfig } from "@lodestar/config/configs";
import { describe, expect, it } from "vitest";
import { columnsOfGroups, custodyGroupsOf } from "../../src/data/custody.ts";
import { runGossipCase } from "../support/vectors/gossip-cases.ts";
import { sampleOf, titled } from "../support/vectors/sample.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

const VECTORS = vectorCases("fulu", "networking");
const of = (handler: RegExp) => VECTORS.filter(({ path }) => handler.test(path.handler));

it.each(titled(of(/^get_custody_groups$/)))("%s", (_, vector) => {
  const { node_id, custody_group_count, result } = vector.yamlTexts("meta") as Record<string, string> & {
    result: string[];
  };
  const nodeId = Buffer.from(BigInt(node_id!).toString(16).padStart(64, "0"), "hex");
  const groups = custodyGroupsOf(minimalChainConfig, nodeId, Number(custody_group_count));
  expect(groups).toEqual(result.map(Number));
});

it.each(titled(of(/^compute_columns_for_custody_group$/)))("%s", (_, vector) => {
  const { custody_group, result } = vector.yaml<{ custody_group: number; result: number[] }>("meta");
  expect(columnsOfGroups(minimalChainConfig, [custody_group])).toEqual(result);
});

/**
 * The node cannot be in the state of this case: it does not wait for the engine's verdict on the payload of a block that
 * violates consensus rules. Without a verdict, children of the block are rejected, as in the other cases.
 */
const UNREACHABLE = "gossip_beacon_block/gossip_beacon_block__ignore_parent_consensus_failed_execution_known";

describe("fulu gossip", () => {
  // Partial columns are an optional feature that the node lacks.
  const cases = of(/^gossip_(?!partial_)/).filter(({ id }) => id !== UNREACHABLE);

  it.each(titled(sampleOf(cases, 9)))("%s", (_, vector) => runGossipCase(vector));

  it("children of a block that violates consensus rules are rejected whatever its payload", async () => {
    const [vector] = VECTORS.filter(({ id }) => id === UNREACHABLE);
    await expect(runGossipCase(vector!)).rejects.toThrow(/reject \(invalid-parent.*expected ignore/);
  });
});

describe("gloas gossip", () => {
  const cases = vectorCases("gloas", "networking").filter(({ path }) => /^gossip_(?!partial_)/.test(path.handler));

  it.each(titled(sampleOf(cases, 9)))("%s", (_, vector) => runGossipCase(vector));
});
