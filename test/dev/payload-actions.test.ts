import { expect as plainExpect } from "vitest";
import { chainTest, expect } from "../../src/library/testing/vitest.ts";

const test = chainTest({ fork: "gloas", validators: 16, evm: false, devBlobs: 1 });

test("withholds and reveals payloads, and tells full blocks from empty ones", async ({ chain }) => {
  await chain.advance();
  await expect(chain).toHavePayload();
  plainExpect(await chain.payload.withhold()).toEqual({ from_slot: "2", until_slot: "3" });
  await chain.payload.setVotes({ abstain: true });
  await chain.advanceUntil("empty");
  await expect(chain).not.toHavePayload();
  await plainExpect(expect(chain).toHavePayload()).rejects.toThrow(
    "Expected the block of slot 2 to have its payload, got none.\nAt slot 2: head slot 2, justified epoch 0, finalized epoch 0.",
  );
  plainExpect(await chain.payload.reveal()).toMatchObject({ slot: "2", is_imported: true });
  await chain.advance();
  await expect(chain).toHavePayload(2);
  await plainExpect(expect(chain).not.toHavePayload(2)).rejects.toThrow("to be empty, got its payload.");
});

test("delays and falsifies payloads, and withholds blobs", async ({ chain }) => {
  await chain.payload.delay({ slotsLate: 1, seconds: 1 });
  await chain.payload.falsify({ slot: 2 });
  await chain.payload.withholdBlobs({ slot: 3, slots: 1 });
  await chain.payload.setVotes({ slot: 4, payloadPresent: false, validators: "all" });
  plainExpect(await chain.advanceUntil("payload")).toMatchObject({ head_slot: "4" });
  await chain.advance();
  for (const slot of [1, 2, 3, 4]) await expect(chain).not.toHavePayload(slot);
  await expect(chain).toHavePayload(5);
  await plainExpect(expect(chain).toHavePayload(1)).rejects.toThrow(
    "The payload was revealed, but it is not on the chain.",
  );
  const { votes } = await chain.payload.get(4);
  plainExpect(votes).toMatchObject({ payload_present: "0", blob_data_missing: "0" });
});
