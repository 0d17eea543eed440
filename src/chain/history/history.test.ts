import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { chainOf, config } from "../../../test/support/chain/stored/linked-blocks.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Clock } from "../clock/clock.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import { Revision } from "../revision.ts";
import { History } from "./history.ts";

const blocks = chainOf([3, 4, 5]);
const signed = blocks.map(({ bytes }) => ssz.phase0.SignedBeaconBlock.deserialize(bytes));
const END = { root: blocks.at(-1)!.root, before: 7 };

/** A history without blocks, with controllable writes and signature checks. */
function historyWith({ areSigned = true } = {}) {
  const write = Promise.withResolvers<void>();
  const written: string[] = [];
  const begun = Promise.withResolvers<void>();
  const batch = {
    blocks: { put: (root: string) => written.push(root) },
    finalizedBlocks: { put: () => {} },
    write: () => {
      begun.resolve();
      return write.promise;
    },
  };
  const custody = { onRaised: () => {} };
  const history = new History(
    {
      config,
      db: { batch: () => batch } as unknown as BeaconDb,
      clock: { currentEpoch: 0 } as Clock,
      blocks: {} as never,
      builderPubkey: () => undefined,
      data: { custody } as unknown as DataAvailability,
      bls: { verifyEach: async (sets: unknown[]) => sets.map(() => areSigned) } as never,
      revision: new Revision(),
      genesis: undefined,
    },
    END,
  );
  return { history, write, written, untilWriting: begun.promise };
}

it("earlier blocks are available once written", async () => {
  const { history, write, written, untilWriting } = historyWith();
  let isDone = false;
  const prepended = history.prepend(signed).then(() => {
    isDone = true;
  });
  await untilWriting;
  expect(history.end).toEqual(END);
  expect(isDone).toBe(false);
  write.resolve();
  await prepended;
  expect(history.end).toEqual({ root: toRootHex(signed[0]!.message.parentRoot), before: 3 });
  expect(history.earliestBlockSlot).toBe(3);
  expect(written).toEqual(blocks.map(({ root }) => root));
});

it("earlier blocks are not available if the write fails", async () => {
  const { history, write, untilWriting } = historyWith();
  const refused = expect(history.prepend(signed)).rejects.toThrow("No space left");
  await untilWriting;
  write.reject(new Error("No space left"));
  await refused;
  expect(history.end).toEqual(END);
});

it("unsigned earlier blocks are rejected before anything is written", async () => {
  const { history, write, written } = historyWith({ areSigned: false });
  write.resolve();
  await expect(history.prepend(signed)).rejects.toMatchObject({ reason: "invalid-signature", slot: 3 });
  expect(written).toEqual([]);
  expect(history.end).toEqual(END);
});

it.each([
  ["do not end with the block that comes next", signed.slice(0, -1)],
  ["have a gap", [signed[0]!, signed[2]!]],
])("earlier blocks that %s are rejected", async (_, segment) => {
  const { history, write, written } = historyWith();
  write.resolve();
  await expect(history.prepend(segment)).rejects.toMatchObject({ reason: "not-connected" });
  expect(written).toEqual([]);
  expect(history.end).toEqual(END);
});
