import { expect, it } from "vitest";
import { blocksUpTo, chainFinalizedByLodestar, GRAFFITI_BYTES } from "./finalizing-chain.ts";

it("Lodestar's validator client finalizes a phase0 chain over REST", async () => {
  const { program, finalizedSlot } = await chainFinalizedByLodestar("phase0", 16);
  const blocks = await blocksUpTo(program, finalizedSlot);
  expect(new Set(blocks.map(({ body }) => body.graffiti))).toEqual(new Set([GRAFFITI_BYTES]));
});
