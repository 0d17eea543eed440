import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { SignedBeaconBlock } from "@lodestar/types";
import { afterEach, expect, it, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openQuietDevChain } from "../support/chain/dev-chain.ts";
import { collect } from "../support/db/collect.ts";

/** The next slot finalizes epoch 2. */
const LAST_UNFINALIZED_SLOT = 4 * SLOTS_PER_EPOCH - 1;

const importing = {
  alone: (chain: BeaconChain, signed: SignedBeaconBlock) => chain.importBlock(signed),
  "in a segment": (chain: BeaconChain, signed: SignedBeaconBlock) => chain.importSegment([signed]),
};

/** Runs `then` once, during the named operation. */
const moments = {
  verified({ states }: BeaconChain, _: BeaconDb, then: () => void) {
    const { afterBlock } = states;
    vi.spyOn(states, "afterBlock").mockImplementationOnce(async (...args) => {
      const state = await afterBlock.apply(states, args);
      then();
      return state;
    });
  },
  written(_: BeaconChain, db: BeaconDb, then: () => void) {
    const batch = db.batch();
    const write = batch.write.bind(batch);
    batch.write = () => write().then(then);
    vi.spyOn(db, "batch").mockReturnValueOnce(batch);
  },
};

afterEach(() => {
  vi.restoreAllMocks();
});

it.each([
  ["alone", "verified"],
  ["alone", "written"],
  ["in a segment", "verified"],
  ["in a segment", "written"],
] as const)("a block that comes %s is refused when finality passes it while it is %s", async (way, moment) => {
  const { devChain, db, complaints } = await openQuietDevChain(LAST_UNFINALIZED_SLOT);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const { head } = chain;
  const genesis = (await chain.blocks.genesis())!;
  const late = byHand.sign(await byHand.produce(LAST_UNFINALIZED_SLOT, genesis.root, 1));
  moments[moment](chain, db, () => chain.forkChoice.onTick(LAST_UNFINALIZED_SLOT + 1));

  await expect(importing[way](chain, late.signed)).rejects.toMatchObject({
    name: "BlockRejection",
    reason: "not-descendant-of-finalized",
    root: late.root,
  });
  expect(chain.forkChoice.finalized.epoch).toBe(2);
  expect(chain.forkChoice.has(late.root)).toBe(false);
  expect((await collect(db.hotBlocks.entries())).map(({ root }) => root)).not.toContain(late.root);
  if (moment === "verified") expect(await db.blocks.has(late.root)).toBe(false);

  await clock.advanceTo(LAST_UNFINALIZED_SLOT + 1);
  const next = await byHand.propose(LAST_UNFINALIZED_SLOT + 1, head.root);
  expect(chain.head.root).toBe(next.root);
  expect(complaints).toEqual([]);
});
