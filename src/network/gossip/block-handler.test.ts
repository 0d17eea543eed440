import type { Type } from "@chainsafe/ssz";
import type { BeaconBlock, SignedBeaconBlock } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import { BlobBlocks } from "../../../test/support/chain/blob-blocks.ts";
import { ByHand } from "../../../test/support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../../../test/support/chain/dev-chain.ts";
import { TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection } from "../../chain/import/block-rejection.ts";
import { BlockHandler } from "./block-handler.ts";
import type { ReceivedMessage } from "./message-types.ts";

/** Creates a block handler and records its reports. */
function handlerOf(chain: BeaconChain, onUnknownParent: () => void = () => {}) {
  const handler = new BlockHandler({
    chain,
    unknownBlocks: { onUnknownParent, onUnknownBlock: () => {}, onUnknownPayload: () => {} },
    reporter: { penalize: () => {} },
    logger: createRecordingLogger(),
  });
  const reports: string[] = [];
  const handle = (object: SignedBeaconBlock) => {
    const report = (verdict: string) => reports.push(verdict);
    handler.handle({ object, peerId: "peer", report } as unknown as ReceivedMessage<"beacon_block">);
  };
  return { handler, handle, reports };
}

it("a block is imported with its arrival time, not its validation time", async () => {
  const chain = new TestChain("phase0");
  onTestFinished(() => chain.close());
  const { signed } = chain.produce(1);
  const { clock, context } = chain;
  clock.set(1, 500);
  const { verify } = context.bls;
  vi.spyOn(context.bls, "verify").mockImplementation((sets) => {
    clock.set(1, 5_000);
    return verify.call(context.bls, sets);
  });
  const importBlock = vi.fn<BeaconChain["importBlock"]>();
  const handler = new BlockHandler({
    chain: {
      validation: context,
      clock,
      events: { publish: () => {}, on: () => () => {} },
      importBlock,
      untilImportEnds: async () => {},
    },
    unknownBlocks: { onUnknownParent: () => {}, onUnknownBlock: () => {}, onUnknownPayload: () => {} },
    reporter: { penalize: () => {} },
    logger: createRecordingLogger([]),
  });
  const report = vi.fn<ReceivedMessage["report"]>();

  handler.handle({ object: signed, peerId: "peer", report } as unknown as ReceivedMessage<"beacon_block">);
  await handler.close();

  expect(report).toHaveBeenCalledWith("accept");
  expect(importBlock).toHaveBeenCalledWith(
    expect.objectContaining({ signed }),
    expect.objectContaining({ arrivedAt: clock.slotStartSeconds(1) + 0.5 }),
  );
});

it("an early block is not rejected when the node shuts down", async () => {
  const { devChain, complaints } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const hand = new ByHand(devChain);
  const slot = clock.currentSlot + 1;
  const { signed } = hand.sign(await hand.produce(slot, chain.head.root));
  vi.spyOn(clock, "currentSlotWithTolerance").mockReturnValue(slot);
  const logger = createRecordingLogger();
  const importBlock = vi.spyOn(chain, "importBlock");
  const handler = new BlockHandler({
    chain,
    unknownBlocks: { onUnknownParent: () => {}, onUnknownBlock: () => {}, onUnknownPayload: () => {} },
    reporter: { penalize: () => {} },
    logger,
  });
  handler.handle({ object: signed, peerId: "peer", report: () => {} } as unknown as ReceivedMessage<"beacon_block">);
  await vi.waitFor(() => expect(importBlock).toHaveBeenCalled());
  await clock.stop();
  await handler.close();
  expect(await importBlock.mock.results[0]!.value.catch((error: unknown) => error)).toMatchObject({
    reason: "node-stopping",
  });
  expect(logger.records.filter(({ level }) => level !== "debug")).toEqual([]);
  expect(complaints).toEqual([]);
});

it("a rejected block is logged once with slot, root, peer and reason; an ignored one is not", async () => {
  const chain = new TestChain("phase0");
  onTestFinished(() => chain.close());
  const { clock, context } = chain;
  const good = chain.produce(1);
  const late = chain.produce(2);
  clock.set(1);
  const importBlock = vi.fn<BeaconChain["importBlock"]>();
  const logger = createRecordingLogger();
  const handler = new BlockHandler({
    chain: {
      validation: context,
      clock,
      events: { publish: () => {}, on: () => () => {} },
      importBlock,
      untilImportEnds: async () => {},
    },
    unknownBlocks: { onUnknownParent: () => {}, onUnknownBlock: () => {}, onUnknownPayload: () => {} },
    reporter: { penalize: () => {} },
    logger,
  });
  const handle = async (object: SignedBeaconBlock, peerId: string) => {
    handler.handle({ object, peerId, report: () => {} } as unknown as ReceivedMessage<"beacon_block">);
    await handler.close();
  };

  await handle({ ...good.signed, signature: late.signed.signature }, "forger");
  importBlock.mockRejectedValueOnce(new BlockRejection("wrong-state-root", "The state root is another one."));
  await handle(good.signed, "relay");
  // One block is already known, the other is from a future slot.
  await handle(good.signed, "relay");
  await handle(late.signed, "early");

  const refusal = { slot: 1, root: good.root };
  expect(logger.records.filter(({ level }) => level !== "debug")).toEqual([
    {
      level: "warn",
      message: "Rejected block from peer",
      fields: { ...refusal, peer: "forger", reason: "bad-signature", detail: expect.stringContaining("not signed") },
    },
    {
      level: "warn",
      message: "Rejected block from peer",
      fields: { ...refusal, peer: "relay", reason: "wrong-state-root", detail: "The state root is another one." },
    },
  ]);
});

it("descendants of an invalid block are rejected", async () => {
  const { devChain } = await openDevChain({ ...QUIET, forks: [{ fork: "electra", epoch: 0 }] });
  const { chain, clock, config } = devChain;
  const byHand = new ByHand(devChain);
  const onUnknownParent = vi.fn();
  const { handler, handle, reports } = handlerOf(chain, onUnknownParent);
  const type = config.getForkTypes(1).BeaconBlock as Type<BeaconBlock>;
  await clock.advanceTo(1);
  const bad = type.clone(await byHand.produce(1, chain.head.root));
  bad.stateRoot.fill(7);
  const { signed, root } = byHand.sign(bad);
  await clock.advanceTo(2);
  const child = type.clone(await byHand.produce(2, chain.head.root));
  child.parentRoot = fromHex(root);

  handle(signed);
  await handler.close();
  handle(byHand.sign(child).signed);
  await handler.close();
  expect(reports).toEqual(["accept", "reject"]);
  expect(onUnknownParent).not.toHaveBeenCalled();
});

it("a block with withheld data and its descendants do not block others", async () => {
  const { devChain } = await openDevChain({ ...QUIET, forks: [{ fork: "electra", epoch: 0 }] });
  const { chain, clock } = devChain;
  const making = new BlobBlocks(devChain);
  const parentRoot = chain.head.root;
  await clock.advanceTo(1);
  const withheld = await making.make({ slot: 1, parentRoot });
  await clock.advanceTo(2);
  const good = await making.make({ slot: 2, parentRoot, blobs: 0 });
  const { handler, handle, reports } = handlerOf(chain);

  handle(withheld.signed);
  await vi.waitUntil(() => chain.isWaitingForData(withheld.root));
  const byHand = new ByHand(devChain);
  const parent = fromHex(withheld.root);
  for (let index = 0; index < 100; index++) {
    const stateRoot = new Uint8Array(32).fill(index);
    handle(byHand.sign({ ...good.signed.message, parentRoot: parent, stateRoot } as BeaconBlock).signed);
  }
  await handler.close();
  handle(good.signed);
  await handler.close();
  expect(chain.head.root).toBe(good.root);
  expect(chain.isWaitingForData(withheld.root)).toBe(true);
  expect(reports).toEqual(["accept", ...Array.from({ length: 100 }, () => "ignore"), "accept"]);
});
