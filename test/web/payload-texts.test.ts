import { expect, it } from "vitest";
import { blocksAmong, payloadTexts } from "../../src/web/payload-texts.ts";

type Variants = readonly (readonly [status: string, validity?: string])[];

const nodesOf = (root: string, parent: string, parentStatus: string | null, variants: Variants) => [
  {
    block_root: root,
    parent_root: parent,
    payload_status: variants.length > 0 ? "pending" : "full",
    parent_payload_status: parentStatus,
    validity: "valid",
  },
  ...variants.map(([status, validity = "valid"]) => ({
    block_root: root,
    parent_root: root,
    payload_status: status,
    parent_payload_status: "pending",
    validity,
  })),
];

it("tells full from empty blocks on the chain, and revealed payloads beside it", () => {
  const nodes = [
    ...nodesOf("fulu", "final", null, []),
    ...nodesOf("a", "fulu", "full", [["empty"], ["full"]]),
    ...nodesOf("b", "a", "empty", [["empty"], ["full", "optimistic"]]),
    ...nodesOf("head", "b", "full", [["empty"]]),
    ...nodesOf("beside", "a", "full", [["empty"], ["full"]]),
    ...nodesOf("withheld", "a", "full", [["empty"]]),
  ];
  expect(blocksAmong(nodes)).toHaveLength(6);
  const chain = new Set(["fulu", "a", "b", "head"]);
  expect(Object.fromEntries(payloadTexts(nodes, { head_root: "head", head_payload_status: "empty" }, chain))).toEqual({
    fulu: "valid",
    a: "empty",
    b: "full, optimistic",
    head: "empty",
    beside: "revealed",
    withheld: "not revealed",
  });
});
