import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { Batch } from "./batch.ts";

const blockAt = (slot: number, proposerIndex = 0): SignedBeaconBlock => {
  const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
  signed.message.slot = slot;
  signed.message.proposerIndex = proposerIndex;
  return signed;
};

/** A block's proposer index identifies its branch. */
const rootOf = ({ message }: SignedBeaconBlock) => `${message.slot}/${message.proposerIndex}`;
const CHAIN = { last: "4/0", rootAt: (slot: number) => `${slot}/0`, rootOf };
const WHOLE = [1, 2, 3, 4].map((slot) => blockAt(slot));

/** Returns a batch whose responses are disputed, except for the last one, which was imported. */
function batchWith(...answers: [peerId: string, blocks: SignedBeaconBlock[]][]): Batch {
  const batch = new Batch({ startSlot: 1, count: 4 });
  for (const [index, [peerId, blocks]] of answers.entries()) {
    batch.downloaded(peerId, blocks);
    if (index < answers.length - 1) batch.dispute();
    else batch.markImported();
  }
  return batch;
}

it("a response without the last block is withheld, one of another branch strayed", () => {
  const other = [1, 2, 3, 4].map((slot) => blockAt(slot, 7));
  const batch = batchWith(["short", WHOLE.slice(0, 3)], ["empty", []], ["other", other], ["honest", WHOLE]);
  expect(batch.faultyPeers(CHAIN)).toEqual({ withheld: ["short", "empty"], strayed: ["other"] });
});

it("a response with the same end but fewer blocks than the imported one is withheld", () => {
  expect(batchWith(["gap", WHOLE.slice(1)], ["honest", WHOLE]).faultyPeers(CHAIN).withheld).toEqual(["gap"]);
});

it("a response with more blocks than the imported one does not blame the imported one", () => {
  const batch = batchWith(["more", WHOLE], ["honest", WHOLE.slice(1)]);
  expect(batch.faultyPeers(CHAIN)).toEqual({ withheld: [], strayed: [] });
});

it("no peer is faulty without a disputed response", () => {
  const batch = batchWith(["short", WHOLE.slice(0, 3)]);
  expect(batch.isDisputed).toBe(false);
  expect(batch.faultyPeers(CHAIN)).toEqual({ withheld: [], strayed: [] });
});

it("lists the peers with empty responses, disputed or not", () => {
  const batch = batchWith(["empty", []], ["short", WHOLE.slice(0, 1)], ["empty too", []]);
  expect(batch.peersWithoutBlocks()).toEqual(["empty", "empty too"]);
});
