import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { expect, test } from "vitest";
import { Batch } from "./batch.ts";

const blockAt = (slot: number, proposerIndex = 0): SignedBeaconBlock => {
  const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
  signed.message.slot = slot;
  signed.message.proposerIndex = proposerIndex;
  return signed;
};

/** The proposer tells the branch of a block. */
const rootOf = ({ message }: SignedBeaconBlock) => `${message.slot}/${message.proposerIndex}`;
const CHAIN = { last: "4/0", rootAt: (slot: number) => `${slot}/0`, rootOf };
const WHOLE = [1, 2, 3, 4].map((slot) => blockAt(slot));

/** A batch with answers that were all doubted but the last one, which was imported. */
function batchWith(...answers: [peerId: string, blocks: SignedBeaconBlock[]][]): Batch {
  const batch = new Batch({ startSlot: 1, count: 4 });
  for (const [index, [peerId, blocks]] of answers.entries()) {
    batch.downloaded(peerId, blocks);
    if (index < answers.length - 1) batch.doubt();
    else batch.taken();
  }
  return batch;
}

test("an answer that lacks the last block is withheld, and one of another branch strayed", () => {
  const other = [1, 2, 3, 4].map((slot) => blockAt(slot, 7));
  const batch = batchWith(["short", WHOLE.slice(0, 3)], ["empty", []], ["other", other], ["honest", WHOLE]);
  expect(batch.faultyPeers(CHAIN)).toEqual({ withheld: ["short", "empty"], strayed: ["other"] });
});

test("an answer with the right end and fewer blocks than the imported one is withheld", () => {
  expect(batchWith(["gap", WHOLE.slice(1)], ["honest", WHOLE]).faultyPeers(CHAIN).withheld).toEqual(["gap"]);
});

test("an answer with more blocks than the imported one is not held against the peer that was imported", () => {
  const batch = batchWith(["more", WHOLE], ["honest", WHOLE.slice(1)]);
  expect(batch.faultyPeers(CHAIN)).toEqual({ withheld: [], strayed: [] });
});

test("without a doubted answer no peer is faulty", () => {
  const batch = batchWith(["short", WHOLE.slice(0, 3)]);
  expect(batch.isDisputed).toBe(false);
  expect(batch.faultyPeers(CHAIN)).toEqual({ withheld: [], strayed: [] });
});

test("the peers that answered with no block are known, doubted or not", () => {
  const batch = batchWith(["empty", []], ["short", WHOLE.slice(0, 1)], ["empty too", []]);
  expect(batch.emptyHanded()).toEqual(["empty", "empty too"]);
});
