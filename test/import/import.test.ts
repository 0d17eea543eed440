import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type Attestation,
  type altair,
  type BeaconBlock,
  type electra,
  type phase0,
  type SignedBeaconBlock,
  ssz,
} from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { RejectionReason } from "../../src/chain/import/block-rejection.ts";
import type { DevFork } from "../../src/dev/forks.ts";
import { devBlockHash } from "../../src/execution/dev-payload.ts";
import { ByHand, type HandMadeBlock } from "../support/chain/by-hand.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { collect } from "../support/db/collect.ts";

/** Enough for finality that a block can contradict. */
const HISTORY_SLOTS = 4 * SLOTS_PER_EPOCH + 1;
const NOBODY = 4_000_000;

interface Scene extends OpenedDevChain {
  byHand: ByHand;
  /** A valid block on the head with attestations. Each case modifies a copy. */
  good: HandMadeBlock;
}

type Spoiled = SignedBeaconBlock | Promise<SignedBeaconBlock>;
type Case = [name: string, reason: RejectionReason, spoil: (scene: Scene, block: BeaconBlock) => Spoiled];

/** Changes the block and signs it with the proposer's key. */
const signedAfter =
  (change: (block: BeaconBlock, scene: Scene) => unknown) =>
  async (scene: Scene, block: BeaconBlock): Promise<SignedBeaconBlock> => {
    await change(block, scene);
    return scene.byHand.sign(block).signed;
  };

const otherThan = ({ proposerIndex }: BeaconBlock) => (proposerIndex + 1) % 16;

const ANY_FORK: Case[] = [
  [
    "a body that was changed after it was signed",
    "invalid-signature",
    ({ good }, block) => {
      block.body.graffiti = new Uint8Array(32).fill(0x66);
      return { message: block, signature: good.signed.signature };
    },
  ],
  ["another proposer", "wrong-proposer", signedAfter((block) => (block.proposerIndex = otherThan(block)))],
  [
    "a proposer that does not exist",
    "wrong-proposer",
    ({ good }, block) => {
      block.proposerIndex = NOBODY;
      return { message: block, signature: good.signed.signature };
    },
  ],
  [
    "the signature of somebody else",
    "invalid-signature",
    ({ byHand }, block) => byHand.sign(block, otherThan(block)).signed,
  ],
  [
    "a signature that is no point of the curve",
    "invalid-signature",
    (_, block) => ({ message: block, signature: new Uint8Array(96).fill(0xff) }),
  ],
  [
    "the randao reveal of somebody else",
    "invalid-signature",
    signedAfter((block, { byHand }) => {
      block.body.randaoReveal = byHand.signer.randaoReveal(otherThan(block), block.slot);
    }),
  ],
  [
    "an attestation that its attesters did not sign",
    "invalid-signature",
    signedAfter((block, { good }) => {
      block.body.attestations[0]!.signature = good.signed.signature;
    }),
  ],
  [
    "an attestation for a committee that does not exist",
    "invalid-transition",
    signedAfter((block) => {
      const attestation = block.body.attestations[0]!;
      if ("committeeBits" in attestation) attestation.committeeBits.set(attestation.committeeBits.bitLen - 1, true);
      else attestation.data.index = 63;
    }),
  ],
  [
    "an attestation whose source is not the justified checkpoint",
    "invalid-transition",
    signedAfter(async (block, { byHand }) => {
      const first = block.body.attestations[0]!;
      const source = { epoch: first.data.source.epoch - 1, root: first.data.source.root };
      (block.body.attestations as Attestation[])[0] = await byHand.withAttestationData(first, { source });
    }),
  ],
  [
    "an exit of a validator that does not exist",
    "invalid-signature",
    signedAfter((block, { good }) => {
      block.body.voluntaryExits.push({
        message: { epoch: 0, validatorIndex: NOBODY },
        signature: good.signed.signature,
      });
    }),
  ],
  [
    "a slashing of a proposer that does not exist",
    "invalid-signature",
    signedAfter((block, { good }) => {
      const header = (mark: number) => ({
        message: {
          slot: 1n,
          proposerIndex: NOBODY,
          parentRoot: new Uint8Array(32),
          stateRoot: new Uint8Array(32),
          bodyRoot: new Uint8Array(32).fill(mark),
        },
        signature: good.signed.signature,
      });
      block.body.proposerSlashings.push({ signedHeader1: header(1), signedHeader2: header(2) });
    }),
  ],
  [
    "a deposit that nobody made",
    "invalid-transition",
    signedAfter((block) => {
      block.body.deposits.push({
        proof: Array.from({ length: 33 }, () => new Uint8Array(32)),
        data: {
          pubkey: new Uint8Array(48),
          withdrawalCredentials: new Uint8Array(32),
          amount: 32e9,
          signature: new Uint8Array(96),
        },
      });
    }),
  ],
  [
    "a parent that nobody knows",
    "unknown-parent",
    signedAfter((block) => {
      block.parentRoot = new Uint8Array(32).fill(0xaa);
    }),
  ],
  ["a slot that has not begun", "future-slot", signedAfter((block) => block.slot++)],
  [
    "the slot of its parent",
    "not-later-than-parent",
    signedAfter((block, { devChain }) => {
      block.slot = devChain.chain.head.slot;
    }),
  ],
  [
    "a finalized slot",
    "finalized-slot",
    signedAfter((block, { devChain }) => {
      block.slot = devChain.chain.forkChoice.finalized.epoch * SLOTS_PER_EPOCH;
    }),
  ],
  [
    "the root of another state",
    "wrong-state-root",
    signedAfter((block) => {
      block.stateRoot = new Uint8Array(32).fill(0xbb);
    }),
  ],
];

const payloadOf = (block: BeaconBlock) => (block as electra.BeaconBlock).body.executionPayload;

const ELECTRA: Case[] = [
  [
    "a sync aggregate that nobody signed",
    "invalid-signature",
    signedAfter((block) => (block as altair.BeaconBlock).body.syncAggregate.syncCommitteeBits.set(0, true)),
  ],
  ["a payload of another time", "invalid-transition", signedAfter((block) => payloadOf(block).timestamp++)],
  [
    "a payload that hashes to something else",
    "invalid-payload",
    async ({ byHand }, block) => {
      payloadOf(block).gasUsed++;
      return byHand.sign(await byHand.withStateRoot(block)).signed;
    },
  ],
  [
    "more requests than its list can hold",
    "invalid-transition",
    async ({ byHand }, block) => {
      const { executionPayload: payload, executionRequests } = (block as electra.BeaconBlock).body;
      const withdrawal = ssz.electra.WithdrawalRequest.defaultValue();
      executionRequests.withdrawals = Array.from({ length: 18 }, () => withdrawal);
      payload.blockHash = devBlockHash(ForkName.electra, payload, { executionRequests });
      return byHand.sign(await byHand.withStateRoot(block)).signed;
    },
  ],
];

/** Shared on purpose: rejected blocks must leave the chain unchanged for the next case. */
describe.each<[DevFork, Case[]]>([
  ["phase0", ANY_FORK],
  ["electra", [...ANY_FORK, ...ELECTRA]],
])("a block of %s", (fork, cases) => {
  let scene: Scene;

  beforeAll(async () => {
    const forks = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    const opened = await startQuietDevChain(HISTORY_SLOTS, { forks });
    const { chain, clock } = opened.devChain;
    const byHand = new ByHand(opened.devChain);
    await clock.advanceTo(HISTORY_SLOTS + 1);
    await byHand.attest(HISTORY_SLOTS + 1, chain.head.root);
    await clock.advanceTo(HISTORY_SLOTS + 2);
    const good = byHand.sign(await byHand.produce(HISTORY_SLOTS + 2, chain.head.root));
    expect(good.signed.message.body.attestations.length).toBeGreaterThan(0);
    expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(0);
    scene = { ...opened, byHand, good };
  });

  afterAll(() => scene?.close());

  async function view() {
    const { chain } = scene.devChain;
    return {
      head: chain.head,
      blocks: [...chain.forkChoice.all()],
      justified: chain.forkChoice.justified,
      finalized: chain.forkChoice.finalized,
      boosted: chain.forkChoice.proposerBoostRoot,
      hotBlocks: await collect(scene.db.hotBlocks.entries()),
    };
  }

  const copyOf = ({ signed }: HandMadeBlock): BeaconBlock => {
    const type = scene.devChain.config.getForkTypes(signed.message.slot).BeaconBlock;
    return type.clone(signed.message as phase0.BeaconBlock);
  };

  it.each(cases)("with %s is rejected as %s", async (_, reason, spoil) => {
    const { chain } = scene.devChain;
    const spoiled = await spoil(scene, copyOf(scene.good));
    const before = await view();
    const write = vi.spyOn(scene.db, "batch");

    await expect(chain.importBlock(spoiled)).rejects.toMatchObject({ name: "BlockRejection", reason });

    expect(write).not.toHaveBeenCalled();
    expect(await view()).toEqual(before);
    write.mockRestore();
  });

  it("is imported if it is valid, and known afterwards", async () => {
    const { chain } = scene.devChain;
    const { root, signed } = scene.good;
    const saidBefore = scene.complaints.length;
    const blocks = vi.fn();
    const heads = vi.fn();
    chain.events.on("block", blocks);
    chain.events.on("head", heads);

    await expect(chain.importBlock(signed)).resolves.toEqual({ root, known: false });
    expect(chain.head.root).toBe(root);
    expect(await scene.db.blocks.has(root)).toBe(true);

    const before = await view();
    await expect(chain.importBlock(signed)).resolves.toEqual({ root, known: true });
    expect(await view()).toEqual(before);
    expect(blocks).toHaveBeenCalledTimes(1);
    expect(heads).toHaveBeenCalledTimes(1);
    expect(scene.complaints.slice(saidBefore)).toEqual([]);
  });
});
