import { EFFECTIVE_BALANCE_INCREMENT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { isActiveValidator } from "@lodestar/state-transition";
import type { RootHex, SignedBlockContents } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { ReorgEvent } from "../../src/chain/events.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import { ByHand, type HandMadeBlock } from "../support/chain/by-hand.ts";
import { advance, openDevChain, openQuietDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { collect } from "../support/db/collect.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const stateRootOf = ({ signed }: HandMadeBlock): RootHex => toRootHex(signed.message.stateRoot);

function reorgsOf(chain: BeaconChain): ReorgEvent[] {
  const reorgs: ReorgEvent[] = [];
  chain.events.on("reorg", (event) => reorgs.push(event));
  return reorgs;
}

async function headersAt({ api }: DevChain, slot: number) {
  const { data } = await api.beacon.getBlockHeaders({ slot });
  if (data instanceof Uint8Array) throw new TypeError("Headers were not asked for in bytes.");
  return data.map(({ root, canonical }) => ({ root: toRootHex(root), canonical }));
}

async function leavesOf({ api }: DevChain): Promise<RootHex[]> {
  const { data } = await api.debug.getDebugChainHeadsV2({});
  return data.map(({ root }) => root).sort();
}

/** Expects lookups by slot to return the chain of these blocks. */
async function expectCanonical({ chain }: DevChain, blocks: HandMadeBlock[], abandoned: HandMadeBlock[]) {
  expect(chain.head.root).toBe(blocks.at(-1)!.root);
  expect(toRootHex(chain.headState.hashTreeRoot())).toBe(stateRootOf(blocks.at(-1)!));
  for (const made of blocks) {
    const { slot } = made.signed.message;
    expect(await chain.blocks.canonicalAtSlot(slot)).toMatchObject({ root: made.root, canonical: true });
    expect(await chain.blocks.byRoot(made.root)).toMatchObject({ canonical: true });
    const state = await chain.states.canonicalAtSlot(slot);
    expect(toRootHex(state!.hashTreeRoot())).toBe(stateRootOf(made));
  }
  for (const { root, signed } of abandoned) {
    expect(await chain.blocks.byRoot(root)).toMatchObject({ root, slot: signed.message.slot, canonical: false });
  }
}

it("a heavier branch becomes the head, and lookups by slot follow it", async () => {
  const { devChain, complaints } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const reorgs = reorgsOf(chain);
  const genesis = chain.head.root;

  await clock.advanceTo(1);
  const left1 = await byHand.propose(1, genesis, 1);
  const right1 = await byHand.propose(1, genesis, 2);
  await expectCanonical(devChain, [left1], [right1]);
  expect(await headersAt(devChain, 1)).toEqual([
    { root: left1.root, canonical: true },
    { root: right1.root, canonical: false },
  ]);
  expect(await leavesOf(devChain)).toEqual([left1.root, right1.root].sort());
  await byHand.attest(1, left1.root);

  // The left branch leads by the attestations of slot 1. Two slots of attestations make the right one heavier.
  await clock.advanceTo(2);
  const left2 = await byHand.propose(2, left1.root, 1);
  const right2 = await byHand.propose(2, right1.root, 2);
  await byHand.attest(2, right2.root);
  await expectCanonical(devChain, [left1, left2], [right1, right2]);
  await clock.advanceTo(3);
  const left3 = await byHand.propose(3, left2.root, 1);
  await byHand.attest(3, right2.root);
  await expectCanonical(devChain, [left1, left2, left3], [right1, right2]);
  reorgs.length = 0;

  await clock.advanceTo(4);

  expect(reorgs).toEqual([
    {
      slot: 2,
      depth: 3,
      oldHead: left3.root,
      newHead: right2.root,
      oldHeadState: stateRootOf(left3),
      newHeadState: stateRootOf(right2),
      executionOptimistic: false,
    },
  ]);
  await expectCanonical(devChain, [right1, right2], [left1, left2, left3]);
  // Slot 3 is empty on the right branch, although the left one has a block there.
  expect(await chain.blocks.canonicalAtSlot(3)).toBeNull();
  expect((await chain.states.canonicalAtSlot(3))!.latestBlockHeader.slot).toBe(2);
  expect(await headersAt(devChain, 3)).toEqual([{ root: left3.root, canonical: false }]);
  expect(await headersAt(devChain, 1)).toEqual([
    { root: right1.root, canonical: true },
    { root: left1.root, canonical: false },
  ]);
  expect(await leavesOf(devChain)).toEqual([left3.root, right2.root].sort());
  const sideState = await chain.states.byRoot(stateRootOf(left3));
  expect(toRootHex(sideState!.hashTreeRoot())).toBe(stateRootOf(left3));
  expect(complaints).toEqual([]);
});

it("the proposer boost decides the head during the slot of a timely block", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const genesis = chain.head.root;

  await clock.advanceTo(1);
  const first = await byHand.propose(1, genesis, 1);
  expect(chain.forkChoice.proposerBoostRoot).toBe(first.root);
  const second = await byHand.propose(1, genesis, 2);
  expect(chain.forkChoice.proposerBoostRoot).toBe(first.root);
  expect(chain.head.root).toBe(first.root);

  // Without attestations and boost the roots break the tie, so either may lead. The next block changes that.
  await clock.advanceTo(2);
  expect(chain.forkChoice.proposerBoostRoot).toBeNull();
  const [leading, trailing] = chain.head.root === first.root ? [first, second] : [second, first];
  const reorgs = reorgsOf(chain);
  const overturning = await byHand.propose(2, trailing.root);

  expect(chain.forkChoice.proposerBoostRoot).toBe(overturning.root);
  expect(chain.head.root).toBe(overturning.root);
  expect(reorgs).toMatchObject([{ oldHead: leading.root, newHead: overturning.root, depth: 1, slot: 2 }]);
});

it("the stake of slashed but active validators counts for the proposer boost", async () => {
  const { devChain } = await openDevChain();
  const { chain, clock } = devChain;
  await clock.advanceTo(1);
  const slashed = 3;
  await chain.processor.proposerSlashing(new SignedOperations(devChain).doubleProposal(slashed, 1));
  const isJustified = async () => {
    const { validators } = await chain.states.atCheckpoint(chain.forkChoice.justified);
    return validators.getReadonly(slashed).slashed;
  };
  while (!(await isJustified()) || chain.head.slot !== clock.currentSlot) await clock.advanceTo(clock.currentSlot + 1);

  // Votes of the slot count from the next one on, so the block only has the weight of the boost.
  const boost = chain.config.PROPOSER_SCORE_BOOST / 100 / SLOTS_PER_EPOCH;
  const { validators, epochCtx } = await chain.states.atCheckpoint(chain.forkChoice.justified);
  expect(isActiveValidator(validators.getReadonly(slashed), epochCtx.epoch)).toBe(true);
  const active = validators.getAllReadonly().filter((validator) => isActiveValidator(validator, epochCtx.epoch));
  const stake = active.reduce((sum, { effectiveBalance }) => sum + effectiveBalance / EFFECTIVE_BALANCE_INCREMENT, 0);
  expect(chain.forkChoice.weightOf(chain.head.root)).toBeCloseTo(stake * boost, 6);
});

it("a block that arrives late in its slot gets no boost", async () => {
  const { devChain } = await openDevChain({ ...QUIET, slotSeconds: 3 });
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  // Attesting is due after a third of a slot.
  clock.onSlot((slot) => clock.untilTime(clock.slotStartSeconds(slot) + 1));

  await clock.advanceTo(1);
  await byHand.propose(1, chain.head.root);

  expect(chain.forkChoice.proposerBoostRoot).toBeNull();
  expect(chain.head.slot).toBe(1);
});

it.each(["verifying", "writing"] as const)("a timely block gets the boost, however long %s it takes", async (work) => {
  const { devChain, db } = await openDevChain({ ...QUIET, slotSeconds: 3 });
  const { api, chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  await clock.advanceTo(1);
  const { signed, root } = byHand.sign(await byHand.produce(1, chain.head.root));
  let seconds = 0;
  vi.spyOn(clock, "nowSeconds").mockImplementation(() => clock.slotStartSeconds(clock.currentSlot) + seconds);
  const takesLong = () => {
    seconds = 2;
  };
  if (work === "verifying") {
    const verify = chain.validation.bls.verify.bind(chain.validation.bls);
    vi.spyOn(chain.validation.bls, "verify").mockImplementation((sets) => verify(sets).finally(takesLong));
  } else {
    const batch = db.batch.bind(db);
    vi.spyOn(db, "batch").mockImplementation(() => {
      takesLong();
      return batch();
    });
  }

  await api.beacon.publishBlockV2({ signedBlockContents: { signedBlock: signed } as SignedBlockContents });

  expect(seconds).toBe(2);
  expect(chain.forkChoice.proposerBoostRoot).toBe(root);
});

it("finality keeps one branch, and blocks and states of the other are still found by root", async () => {
  const directory = tempDirectory();
  const quiet = await openQuietDevChain(SLOTS_PER_EPOCH, {}, directory);
  const byHand = new ByHand(quiet.devChain);
  const forkSlot = SLOTS_PER_EPOCH + 1;
  const parent = quiet.devChain.chain.head.root;
  await quiet.devChain.clock.advanceTo(forkSlot);
  const kept = await byHand.propose(forkSlot, parent, 1);
  const lost = await byHand.propose(forkSlot, parent, 2);
  await byHand.attest(forkSlot, kept.root);
  await quiet.devChain.clock.advanceTo(forkSlot + 1);
  expect(await leavesOf(quiet.devChain)).toHaveLength(2);
  const children = await quiet.devChain.chain.blocks.childrenOf(parent);
  expect(children.map(({ root }) => root).sort()).toEqual([kept.root, lost.root].sort());
  await quiet.close();

  const { devChain, db, complaints } = await openDevChain({}, directory);
  const { chain, clock } = devChain;
  expect(chain.head.root).toBe(kept.root);
  expect(await leavesOf(devChain)).toEqual([kept.root, lost.root].sort());
  await advance(devChain, 5 * SLOTS_PER_EPOCH);

  expect(chain.forkChoice.finalized.epoch).toBeGreaterThanOrEqual(2);
  await chain.store();
  expect(await leavesOf(devChain)).toEqual([chain.head.root]);
  expect(await headersAt(devChain, forkSlot)).toEqual([{ root: kept.root, canonical: true }]);
  expect((await chain.blocks.childrenOf(parent)).map(({ root }) => root)).toEqual([kept.root]);
  expect(await chain.blocks.byRoot(kept.root)).toMatchObject({ canonical: true, finalized: true });
  expect(await chain.blocks.byRoot(lost.root)).toMatchObject({ canonical: false, finalized: false });
  const lostState = await chain.states.byRoot(stateRootOf(lost));
  expect(toRootHex(lostState!.hashTreeRoot())).toBe(stateRootOf(lost));
  const hotRoots = (await collect(db.hotBlocks.entries())).map(({ root }) => root);
  expect(hotRoots).not.toContain(lost.root);
  await expect(chain.importBlock((await byHandOn(lost)).signed)).rejects.toMatchObject({ reason: "unknown-parent" });
  expect(complaints).toEqual([]);

  /** A block of the current slot on the abandoned branch. */
  async function byHandOn({ root }: HandMadeBlock): Promise<HandMadeBlock> {
    const hand = new ByHand(devChain);
    return hand.sign(await hand.produce(clock.currentSlot, root));
  }
});
