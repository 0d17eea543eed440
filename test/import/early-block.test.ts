import type { SignedBlockContents } from "@lodestar/types";
import { expect, it } from "vitest";
import { ByHand } from "../support/chain/by-hand.ts";
import { openQuietDevChain } from "../support/chain/dev-chain.ts";

it("a block that arrives shortly before its slot is imported when the slot starts", async () => {
  const { devChain, complaints } = await openQuietDevChain(2);
  const { api, chain, clock } = devChain;
  const hand = new ByHand(devChain);
  const slot = clock.currentSlot + 1;
  const { signed, root } = hand.sign(await hand.produce(slot, chain.head.root));
  // Four seconds, because a busy machine may use some of them.
  clock.setSpeed(0.1);
  clock.run({ fromSeconds: clock.slotStartSeconds(slot) - 0.4 });
  expect(clock.currentSlot).toBe(slot - 1);

  const signedBlockContents = { signedBlock: signed } as SignedBlockContents;
  expect(await api.beacon.publishBlockV2({ signedBlockContents })).toEqual({ status: 200 });

  expect(clock.currentSlot).toBeGreaterThanOrEqual(slot);
  expect(chain.head.root).toBe(root);
  expect(complaints).toEqual([]);
});
