import { expect, it } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const VALIDATORS = 8;
const LAST_SLOT = 6;

const reported = ({ log }: TestNode) => log.filter((line) => line.includes("Validator key is also used elsewhere"));

it("a node reports that its validators also run on another node, which ignores its own echoes", async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: [{ fork: "electra", epoch: 0 }] });
  const active = await network.add(range(0, VALIDATORS));
  // It has the same keys and is late with every duty.
  const late = await network.add(range(0, VALIDATORS), [active], { restsAt: range(0, LAST_SLOT + 2) });
  for (const { chain } of [active, late]) chain.preparations.prepareOwn(range(0, VALIDATORS), new Uint8Array(20));
  await network.untilConnected();

  await network.runTo(LAST_SLOT);

  await network.untilSameHead();
  expect(reported(late).length).toBeGreaterThan(0);
  expect(reported(late)[0]).toMatch(/ERROR.*validator=\d+ seen=(attestation|block) slot=\d+/);
  expect(late.chain.validation.duplicates.counts.block).toBeGreaterThan(0);
  expect(reported(active)).toEqual([]);
});
