import { expect, onTestFinished, test, vi } from "vitest";
import type { BeaconChain } from "../../chain/chain.ts";
import { TestChain } from "../../chain/validation/validation-chain.test-support.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { BlockHandler } from "./block-handler.ts";
import type { ReceivedMessage } from "./message-types.ts";

test("a block is imported with the time at which it came, not that at which the rules were passed", async () => {
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
    chain: { validation: context, clock, events: { publish: () => {} }, importBlock },
    unknownBlocks: { onUnknownParent: () => {}, onUnknownBlock: () => {} },
    reporter: { penalize: () => {} },
    logger: createRecordingLogger([]),
  });
  const report = vi.fn<ReceivedMessage["report"]>();

  handler.handle({ object: signed, peerId: "peer", report } as unknown as ReceivedMessage<"beacon_block">);
  await handler.close();

  expect(report).toHaveBeenCalledWith("accept");
  expect(importBlock).toHaveBeenCalledWith(signed, { arrivedAt: clock.slotStartSeconds(1) + 0.5 });
});
