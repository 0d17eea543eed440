import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, vi } from "vitest";
import { ByHand } from "../support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { summarize } from "../support/chain/validation/validation-chain.ts";

const UNSIGNED = new Uint8Array(96);

/** Empty epochs after some unfinalized blocks. */
async function openAfterPause() {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const roots = [chain.head.root];
  for (let slot = 1; slot <= 4; slot++) {
    await clock.advanceTo(slot);
    roots.push((await byHand.propose(slot, roots.at(-1)!)).root);
  }
  const slot = 8 * SLOTS_PER_EPOCH + 2;
  await clock.advanceTo(slot);
  return { devChain, chain, byHand, roots, slot };
}

it("no state is computed for an unsigned vote, whichever block it references", async () => {
  const { chain, byHand, roots, slot } = await openAfterPause();
  const onHead = await byHand.propose(slot - 1, chain.head.root, 1);
  const beside = await byHand.propose(slot - 1, roots.at(-1)!, 2);
  const votes = [];
  for (const root of [...roots, onHead.root, beside.root])
    votes.push((await byHand.attestationsFor(slot, root))[0]!.attestation);
  const afterBlock = vi.spyOn(chain.states, "afterBlock");

  const outcomes = await chain.processor.attestations(votes.map((vote) => ({ ...vote, signature: UNSIGNED })));

  expect(summarize(outcomes)).toEqual([
    ...roots.map(() => "ignore block-too-old"),
    "reject bad-signature",
    "reject bad-signature",
  ]);
  expect(afterBlock).not.toHaveBeenCalled();
});

it("votes for the head count, regardless of its age", async () => {
  const { devChain, chain, byHand, slot } = await openAfterPause();
  const voters = await byHand.attest(slot, chain.head.root);
  await devChain.clock.advanceTo(slot + 1);
  expect(voters.length).toBeGreaterThan(0);
  expect(chain.forkChoice.weightOf(chain.head.root)).toBe(32 * voters.length);
});
