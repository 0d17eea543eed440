import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it, vi } from "vitest";
import { produceBlock } from "../../src/api/methods/validator/block-production.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../src/chain/settings.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openQuietDevChain } from "../support/chain/dev-chain.ts";

/** In the middle of the second epoch. */
const PARENT_SLOT = 10;
/** The compressed point at infinity. */
const NO_REVEAL = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

interface Late {
  parentSlot?: number;
  arrivalSeconds?: number;
  /** True if the validators of its slot vote for the late block instead of its parent. */
  isVotedFor?: boolean;
  options?: Partial<DevNodeOptions>;
}

/** A chain whose head arrived late, at the end of the head's slot. */
async function openWithLateHead({ parentSlot = PARENT_SLOT, arrivalSeconds, isVotedFor, options }: Late = {}) {
  const opened = await openQuietDevChain(parentSlot, {
    validators: 32,
    forks: [{ fork: "electra", epoch: 0 }],
    ...options,
  });
  const { chain, clock } = opened.devChain;
  const hand = new ByHand(opened.devChain);
  const parent = chain.head;
  const slot = parentSlot + 1;
  await clock.advanceTo(slot);
  const update = vi.spyOn(opened.node.source.engine, "forkchoiceUpdated");
  const arrivedAt = clock.slotStartSeconds(slot) + (arrivalSeconds ?? clock.secondsPerSlot - 1);
  const late = hand.sign(await hand.produce(slot, parent.root));
  await hand.attest(parentSlot, parent.root);
  if (!isVotedFor) await hand.attest(slot, parent.root);
  for (let index = 0; index < 32; index++)
    chain.preparations.prepare(index, new Uint8Array(20).fill(1), clock.currentEpoch);
  await chain.importBlock(late.signed, { arrivedAt });
  expect(chain.head.root).toBe(late.root);
  if (isVotedFor) await hand.attest(slot, late.root);
  await chain.pendingVerdicts.retry();
  const toldHead = () => update.mock.lastCall?.[1].headBlockHash;
  const proposedParent = async (): Promise<RootHex> => {
    const request = { slot: slot + 1, randaoReveal: NO_REVEAL, skipRandaoVerification: true };
    return toRootHex((await produceBlock(chain, request)).block.parentRoot);
  };
  return { ...opened, hand, chain, clock, parent, late, slot, toldHead, proposedParent };
}

const hashOf = (block: { execution: object }) => (block.execution as { blockHash: RootHex }).blockHash;

it("a late head without votes is orphaned by the next proposer, and the execution engine stays at its parent", async () => {
  const { chain, clock, hand, parent, slot, toldHead, proposedParent, complaints } = await openWithLateHead();
  expect(toldHead()).toBe(hashOf(parent));
  await clock.advanceTo(slot + 1);
  expect(await proposedParent()).toBe(parent.root);
  const next = await hand.propose(slot + 1, parent.root);
  expect(chain.head.root).toBe(next.root);
  await chain.pendingVerdicts.retry();
  expect(toldHead()).toBe(hashOf(chain.head));
  expect(complaints).toEqual([]);
});

describe("a block builds on the head", () => {
  it.each<[string, Late]>([
    ["if it arrived before the attestation deadline", { arrivalSeconds: 0 }],
    ["if it has votes", { isVotedFor: true }],
    ["at the first slot of an epoch", { parentSlot: 14 }],
    ["if proposer reorgs are turned off", { options: { chain: { ...DEFAULT_CHAIN_SETTINGS, proposerReorgs: false } } }],
  ])("%s", async (_, conditions) => {
    const { chain, clock, late, slot, toldHead, proposedParent } = await openWithLateHead(conditions);
    await clock.advanceTo(slot + 1);
    expect(await proposedParent()).toBe(late.root);
    await chain.pendingVerdicts.retry();
    expect(toldHead()).toBe(hashOf(chain.head));
  });

  it("if it is proposed too late in its slot", async () => {
    const { clock, parent, late, slot, proposedParent } = await openWithLateHead();
    await clock.advanceTo(slot + 1);
    expect(await proposedParent()).toBe(parent.root);
    clock.moveTo(slot + 1, clock.slotStartSeconds(slot + 1) + clock.secondsPerSlot / 4);
    expect(await proposedParent()).toBe(late.root);
  });

  it("if a slot is empty after it", async () => {
    const { clock, late, slot, chain } = await openWithLateHead();
    await clock.advanceTo(slot + 2);
    expect(chain.proposerHead.parentFor(slot + 2).root).toBe(late.root);
    expect(chain.proposerHead.parentFor(slot + 3).root).toBe(late.root);
  });
});

it("a timely head without votes is orphaned if its proposer equivocated", async () => {
  const { hand, clock, parent, slot, proposedParent } = await openWithLateHead({ arrivalSeconds: 0 });
  await hand.propose(slot, parent.root, 1);
  await clock.advanceTo(slot + 1);
  expect(await proposedParent()).toBe(parent.root);
});

it("the execution engine follows a late head that none of this node's validators can orphan", async () => {
  const { chain, clock, late, slot, toldHead } = await openWithLateHead({ isVotedFor: true });
  await clock.advanceTo(slot + 1);
  await chain.pendingVerdicts.retry();
  expect([chain.head.root, toldHead()]).toEqual([late.root, hashOf(chain.head)]);
});
