import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { gloas } from "@lodestar/types";
import { expect, it } from "vitest";
import { bidOf } from "../../src/chain/blocks/bid.ts";
import type { ProducedFullBlock } from "../../src/chain/production/block-producer.ts";
import { blockRequest } from "../../src/chain/production/block-request.ts";
import { BuilderKeychain } from "../../src/dev/builders/builder-keychain.ts";
import { BuilderPlans } from "../../src/dev/builders/builder-plans.ts";
import { SlotBids } from "../../src/dev/builders/slot-bids.ts";
import { range, TestNetwork, until } from "./support/test-network.ts";

const VALIDATORS = 16;
const HISTORY_EPOCHS = 4;
const VALUE = 1_000;

it("a builder on another node bids through gossip, and reveals its payload", { timeout: 120_000 }, async () => {
  const network = new TestNetwork({
    validators: VALIDATORS,
    forks: [{ fork: "gloas", epoch: 0 }],
    builders: { count: 1, balance: 100 * 10 ** 9 },
  });
  const proposer = await network.add(range(0, VALIDATORS), [], { timing: "lockstep" });
  await network.clock.advanceTo(HISTORY_EPOCHS * SLOTS_PER_EPOCH + 1);
  const builder = await network.add([], [proposer]);
  await network.untilConnected();
  await network.untilSameHead();

  const preferences: gloas.SignedProposerPreferences[] = [];
  builder.chain.events.on("proposerPreferences", (signed) => preferences.push(signed));
  const bidSlot = (HISTORY_EPOCHS + 2) * SLOTS_PER_EPOCH + 1;
  while (network.clock.currentSlot < bidSlot - 1) {
    await network.clock.advanceTo(network.clock.currentSlot + 1);
    await network.untilSameHead();
  }
  expect(preferences.map(({ message }) => message.proposalSlot)).toContain(bidSlot);

  // The payload arrives after its block.
  const { root: parentRoot } = builder.chain.head;
  await until(
    (wake) => builder.chain.events.on("payload", wake),
    () => builder.chain.forkChoice.isPayloadVerified(parentRoot),
  );

  const plans = new BuilderPlans();
  plans.update(0, { bid: { fromSlot: bidSlot, untilSlot: bidSlot + 1, value: VALUE, equivocates: false } });
  const bids = new SlotBids({ chain: builder.chain, keys: new BuilderKeychain(1), plans });
  const { message } = preferences.find((signed) => signed.message.proposalSlot === bidSlot)!;
  const received: gloas.SignedExecutionPayloadBid[] = [];
  proposer.chain.events.on("executionBid", (signed) => received.push(signed));
  await bids.submit(
    blockRequest(builder.chain, message.validatorIndex, {
      slot: bidSlot,
      parentRoot,
      randaoReveal: new Uint8Array(96),
      feeRecipient: message.feeRecipient,
    }),
  );
  await until(
    (wake) => proposer.chain.events.on("executionBid", wake),
    () => received.length > 0,
  );

  await network.clock.advanceTo(bidSlot);
  await network.untilSameHead();
  const { root } = builder.chain.head;
  const signed = (await builder.chain.blocks.signedByRoot(root))!;
  expect(bidOf(signed.message)).toMatchObject({ builderIndex: 0, value: VALUE });
  const { envelope } = bids.settle({ block: signed.message, root } as ProducedFullBlock)!;
  await builder.chain.importOwnPayload({ message: envelope, signature: bids.sign(envelope) });
  await until(
    (wake) => proposer.chain.events.on("payload", wake),
    () => proposer.chain.forkChoice.isPayloadVerified(root),
  );
  expect(await proposer.chain.payloadStore.get(root)).toMatchObject({ message: { builderIndex: 0 } });
});
