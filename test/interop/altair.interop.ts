import { expect, it } from "vitest";
import { blocksUpTo, chainFinalizedByLodestar, GRAFFITI_BYTES } from "./finalizing-chain.ts";

it("Lodestar's validator client finalizes an altair chain over REST, its sync committee included", async () => {
  const { program, finalizedSlot } = await chainFinalizedByLodestar("altair", 16);
  const blocks = await blocksUpTo(program, finalizedSlot);
  expect(new Set(blocks.map(({ body }) => body.graffiti))).toEqual(new Set([GRAFFITI_BYTES]));
  const everyMember = "0xffffffff";
  expect(blocks.map(({ body }) => body.sync_aggregate?.sync_committee_bits)).toContain(everyMember);
});
