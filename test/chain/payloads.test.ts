import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type gloas, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it, vi } from "vitest";
import { bidOf } from "../../src/chain/blocks/bid.ts";
import type { BlockRejection } from "../../src/chain/import/block-rejection.ts";
import { GloasChain, type MadeBlock } from "../support/chain/gloas-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const parentHashOf = ({ block }: MadeBlock) => toRootHex(bidOf(block)!.parentBlockHash);
const hashOf = ({ block }: MadeBlock) => toRootHex(bidOf(block)!.blockHash);

describe("payloads of a gloas chain", () => {
  it("are revealed after their blocks, and announced", async () => {
    const gloas = await GloasChain.open();
    const events: string[] = [];
    for (const name of ["block", "payloadGossip", "payloadAvailable", "payload", "head", "headPayload"] as const) {
      gloas.chain.events.on(name, ({ slot }) => events.push(`${name} ${slot}`));
    }
    await gloas.run(1);
    expect(events).toEqual([
      "block 1",
      "head 1",
      "payloadGossip 1",
      "payloadAvailable 1",
      "payload 1",
      "headPayload 1",
    ]);
    expect(gloas.head).toEqual([1, "full"]);
    const { root } = gloas.chain.head;
    const stored = await gloas.chain.payloadStore.get(root);
    expect(toRootHex(stored!.message.beaconBlockRoot)).toBe(root);
  });

  it("can be withheld for ever: the chain goes on without them and finalizes", async () => {
    const gloas = await GloasChain.open();
    await gloas.run(2);
    const before = gloas.chain.head;
    await gloas.run(1, { payload: "withhold" });
    expect(gloas.head).toEqual([3, "empty"]);
    expect(gloas.chain.head.bid?.parentBlockHash).toBe(before.bid?.blockHash);
    await gloas.run(1);
    expect(gloas.head).toEqual([4, "full"]);
    expect(gloas.chain.head.bid?.parentBlockHash).toBe(before.bid?.blockHash);
    for (let slot = 4; slot < 5 * SLOTS_PER_EPOCH; slot++) {
      await gloas.run(1, slot % 2 === 0 ? { payload: "withhold" } : {});
    }
    expect(gloas.chain.finalizedCheckpoint.epoch).toBe(3);
    await gloas.run(2 * SLOTS_PER_EPOCH, { payload: "withhold" });
    expect(gloas.chain.finalizedCheckpoint.epoch).toBe(5);
    await gloas.run(1);
    expect(gloas.head[1]).toBe("full");
    expect(gloas.opened.complaints).toEqual([]);
  });

  it("that arrive after the deadline are voted down, and the next block leaves them out", async () => {
    const gloas = await GloasChain.open();
    await gloas.run(1);
    await gloas.run(1, { payload: gloas.after(0.6) });
    const { root } = gloas.chain.head;
    expect(gloas.chain.forkChoice.isPayloadVerified(root)).toBe(true);
    expect(gloas.chain.forkChoice.payloadTimeliness(root, false)).toBe(true);
    await gloas.run(1);
    expect(gloas.chain.forkChoice.parentPayloadStatus(gloas.chain.head.root)).toBe("empty");
    expect(gloas.head).toEqual([3, "full"]);
  });

  it("can arrive after the next block", async () => {
    const gloas = await GloasChain.open();
    await gloas.run(1);
    await gloas.run(1, { payload: gloas.after(0.6, 1) });
    const { root } = gloas.chain.head;
    await gloas.run(1);
    expect(gloas.chain.head.parentRoot).toBe(root);
    expect(gloas.chain.forkChoice.isPayloadVerified(root)).toBe(true);
    expect(gloas.chain.forkChoice.parentPayloadStatus(gloas.chain.head.root)).toBe("empty");
  });

  it("of older blocks are voted for by the attestations of empty slots", async () => {
    const gloas = await GloasChain.open();
    const { chain } = gloas;
    await gloas.run(2);
    const { root } = chain.head;
    const proposer = (await chain.states.afterBlock(root, 3)).epochCtx.getBeaconProposer(3);
    const others = new Set([...gloas.opened.devChain.keys.indices].filter((index) => index !== proposer));
    await gloas.run(1, { online: others });
    expect(gloas.head).toEqual([2, "full"]);
    expect(chain.pools.attestations.list({ slot: 3 }).map(({ data }) => data.index)).toEqual([1]);
    await gloas.nextSlot();
    await chain.refreshHead();
    expect(chain.forkChoice.weightOf(root, "full")).toBeGreaterThan(0);
    expect(chain.forkChoice.weightOf(root, "empty")).toBe(0);
    await gloas.run(1);
    expect(chain.forkChoice.parentPayloadStatus(chain.head.root)).toBe("full");
    const attestations = (await chain.blocks.signedByRoot(chain.head.root))!.message.body.attestations;
    expect(attestations.map(({ data }) => [data.slot, data.index])).toContainEqual([3, 1]);
  });

  it("can arrive before their blocks, each in any order with its columns", async () => {
    const gloas = await GloasChain.open({ devBlobs: { min: 1, max: 1 } });
    const { chain } = gloas;
    const slot = await gloas.nextSlot();
    const made = await gloas.make();
    await expect(chain.importPayload(made.reveal)).rejects.toMatchObject({ reason: "unknown-block" });
    expect(await chain.importBlock(made.signed)).toMatchObject({ known: false });
    await vi.waitUntil(() => chain.data.awaited().length > 0);
    expect(gloas.head).toEqual([1, "empty"]);
    chain.data.pool.add({ slot, root: made.root }, gloas.sidecars.get(made.root)!);
    await vi.waitUntil(() => chain.headNode.payloadStatus === "full");
    expect(await chain.data.indices(made.root)).toHaveLength(128);
    expect(chain.data.pool.count(made.root)).toBe(0);
    expect(await chain.importPayload(made.reveal)).toMatchObject({ known: true });
  });

  it("that a block builds on are awaited by the block", async () => {
    const gloas = await GloasChain.open();
    const { chain } = gloas;
    await gloas.nextSlot();
    const first = await gloas.make();
    await chain.importBlock(first.signed);
    await chain.importPayload(first.reveal);
    await gloas.nextSlot();
    const second = await gloas.make();
    expect(parentHashOf(second)).toBe(hashOf(first));

    const other = await GloasChain.open({ genesisTime: chain.genesis.time });
    await other.nextSlot();
    await other.nextSlot();
    await other.chain.importBlock(first.signed);
    await expect(other.chain.importBlock(second.signed)).rejects.toMatchObject({ reason: "unknown-parent-payload" });
    await other.chain.importPayload(first.reveal);
    await vi.waitUntil(() => other.chain.head.root === second.root);
    expect(other.head).toEqual([2, "empty"]);
  });

  it.each<[reason: BlockRejection["reason"], text: RegExp, change: (envelope: gloas.ExecutionPayloadEnvelope) => void]>(
    [
      ["invalid-envelope", /block hash/, ({ payload }) => Object.assign(payload, { blockHash: new Uint8Array(32) })],
      ["invalid-envelope", /builder index is 3/, (envelope) => Object.assign(envelope, { builderIndex: 3 })],
      [
        "invalid-envelope",
        /parent block root/,
        (envelope) => Object.assign(envelope, { parentBeaconBlockRoot: new Uint8Array(32) }),
      ],
      ["invalid-envelope", /timestamp/, ({ payload }) => payload.timestamp++],
      ["invalid-envelope", /slot number/, ({ payload }) => payload.slotNumber++],
      [
        "invalid-envelope",
        /withdrawals/,
        ({ payload }) => payload.withdrawals.push(ssz.capella.Withdrawal.defaultValue()),
      ],
      [
        "invalid-payload",
        /rejected the payload/,
        ({ payload }) => Object.assign(payload, { extraData: new Uint8Array(1) }),
      ],
    ],
  )("that do not fit are refused: %s", async (reason, text, change) => {
    const gloas = await GloasChain.open();
    await gloas.nextSlot();
    const made = await gloas.make();
    await gloas.chain.importBlock(made.signed);
    const envelope = structuredClone(made.envelope!);
    change(envelope);
    const signed = gloas.signEnvelope(envelope, made.block.proposerIndex);
    await expect(gloas.chain.importPayload(signed)).rejects.toMatchObject({
      reason,
      message: expect.stringMatching(text),
    });
    expect(gloas.head).toEqual([1, "empty"]);
  });

  it("with a wrong or malformed signature are refused, and the right one is still accepted", async () => {
    const gloas = await GloasChain.open();
    await gloas.nextSlot();
    const made = await gloas.make();
    await gloas.chain.importBlock(made.signed);
    const forged = gloas.signEnvelope(made.envelope!, (made.block.proposerIndex + 1) % 64);
    for (const signature of [forged.signature, new Uint8Array(96), new Uint8Array(96).fill(0xff)]) {
      const refused = gloas.chain.importPayload({ ...made.reveal, signature });
      await expect(refused).rejects.toMatchObject({ reason: "invalid-signature" });
    }
    expect(await gloas.chain.importPayload(made.reveal)).toEqual({ root: made.root, known: false });
    expect(gloas.head).toEqual([1, "full"]);
  });

  it("are there again after a restart, and blocks without one can still get theirs", async () => {
    const directory = tempDirectory();
    const gloas = await GloasChain.open({}, directory);
    await gloas.run(2);
    const slot = await gloas.nextSlot();
    const made = await gloas.make();
    await gloas.chain.importBlock(made.signed);
    await gloas.opened.close();

    const again = await GloasChain.open({}, directory);
    expect(again.chain.clock.currentSlot).toBe(slot);
    expect(again.head).toEqual([3, "empty"]);
    expect(again.chain.forkChoice.isPayloadVerified(toRootHex(made.block.parentRoot))).toBe(true);
    await again.chain.importPayload(made.reveal);
    expect(again.head).toEqual([3, "full"]);
    await again.opened.abandon();

    const last = await GloasChain.open({}, directory);
    expect(last.head).toEqual([3, "full"]);
    await last.run(4 * SLOTS_PER_EPOCH);
    await last.opened.close();

    const final = await GloasChain.open({}, directory);
    expect(final.chain.finalizedCheckpoint.epoch).toBe(2);
    await final.run(2);
    expect(final.head[1]).toBe("full");
    expect(final.opened.complaints).toEqual([]);
  });

  it("are part of snapshots and dumps", async () => {
    const gloas = await GloasChain.open();
    const { control } = gloas.opened.devChain;
    await gloas.run(1);
    await gloas.nextSlot();
    const made = await gloas.make();
    await gloas.chain.importBlock(made.signed);
    const snapshot = await control.snapshots.take();
    await gloas.chain.importPayload(made.reveal);
    expect(gloas.head).toEqual([2, "full"]);
    const dump = await control.dumps.dump();
    await control.snapshots.revert(snapshot);
    expect(gloas.head).toEqual([2, "empty"]);
    expect(await gloas.chain.payloadStore.get(made.root)).toBeNull();
    await control.dumps.load(dump);
    expect(gloas.head).toEqual([2, "full"]);
    expect(await gloas.chain.payloadStore.has(made.root)).toBe(true);
    await gloas.run(1);
    expect(gloas.chain.forkChoice.parentPayloadStatus(gloas.chain.head.root)).toBe("full");
  });
});
