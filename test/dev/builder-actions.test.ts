import { expect } from "vitest";
import { chainTest } from "../../src/library/testing/vitest.ts";

const test = chainTest({ fork: "gloas", builders: 2, validators: 16, evm: false, devBlobs: 1 });

test("makes builders bid, pay, top up and exit", async ({ chain }) => {
  const builder = chain.builder(1);
  expect(await builder.status()).toMatchObject({ index: "1", status: "pending", balance: "100000000000" });
  await chain.advanceUntil({ finalized: 1 });
  expect(await builder.status()).toMatchObject({ status: "active", max_bid: "99000000000", last_bid: null });
  await builder.bid({ value: 5_000_000_000 });
  await chain.builder(0).bid({ value: 4_000_000_000 });
  const { head_slot: slot } = await chain.advance();
  expect(await builder.status()).toMatchObject({ last_bid: { slot, value: "5000000000", outcome: "taken" } });
  expect(await chain.builder(0).status()).toMatchObject({ last_bid: { slot, outcome: "outbid", reason: null } });
  const { message } = await chain.block();
  expect(message.body.signed_execution_payload_bid.message).toMatchObject({ builder_index: "1", value: "5000000000" });
  expect(await chain.payload.get()).toMatchObject({ payload_status: "full" });
  await chain.advanceUntil("builder_paid");
  expect(await builder.status()).toMatchObject({ balance: "95000000000", pending_payments: "0" });
  await builder.topUp(2_000_000_000);
  await chain.advance({ slots: 2 });
  expect(await builder.status()).toMatchObject({ balance: "97000000000" });
  await builder.exit();
  await chain.advance({ slots: 2 });
  expect(await builder.status()).toMatchObject({ status: "exiting" });
  await expect(builder.exit()).rejects.toThrow("Builder 1 is exiting. Only active builders can exit.");
});

test("withholds payloads, and refuses bids that the balance does not cover", async ({ chain }) => {
  const builder = chain.builder(0);
  await builder.bid({ value: 1 });
  await chain.advance();
  expect((await builder.status()).last_bid).toMatchObject({
    outcome: "refused",
    reason: "Builder 0 is not active.",
  });
  await chain.advanceUntil({ finalized: 1 });
  await builder.bid({ value: 99_000_000_001 });
  await chain.advance();
  expect((await builder.status()).last_bid).toMatchObject({
    outcome: "refused",
    reason: "The balance of builder 0 does not cover the bid of 99000000001 Gwei.",
  });
  await builder.bid({ value: 3_000_000_000 });
  await builder.withhold();
  await chain.advance();
  expect(await chain.payload.get()).toMatchObject({ payload_status: "empty", is_withheld: true });
  expect(await builder.status()).toMatchObject({ balance: "100000000000", pending_payments: "3000000000" });
  // Enough validators attested to the block.
  await chain.advanceUntil("builder_paid");
  expect(await builder.status()).toMatchObject({ balance: "97000000000", pending_payments: "0" });
  await expect(chain.builder(7).bid({ value: 1 })).rejects.toThrow("There is no builder 7. The chain has 2 builders.");
});
