import { cpSync } from "node:fs";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ClassicLevel } from "classic-level";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { Bucket } from "../../src/db/keys.ts";
import { StartError } from "../../src/node/start-error.ts";
import { makeHistory, startDevChain } from "../support/chain/dev-chain.ts";
import { type RemovableDirectory, removableDirectory } from "../support/directories/removable-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const HISTORY_SLOTS = 4 * SLOTS_PER_EPOCH + 2;

interface Write {
  type: string;
  key: Uint8Array;
}

/** Kinds of writes of a running chain, by a characteristic entry. */
const KINDS: Record<string, (write: Write) => boolean> = {
  "a block": ({ key, type }) => key[0] === Bucket.blocks && type === "put",
  "the finalized chain": ({ key, type }) => key[0] === Bucket.finalizedBlocks && type === "put",
  "a part of a state": ({ key, type }) => key[0] === Bucket.snapshotParts && type === "put",
  "a state": ({ key, type }) => key[0] === Bucket.packedSnapshots && type === "put",
  "the votes": ({ key }) => nameOf(key) === "votes",
  "the slot of the clock": ({ key }) => nameOf(key) === "clockSlot",
  "what validators signed": ({ key }) => nameOf(key)?.startsWith("free/signed/") === true,
  "the pools, at the end": ({ key }) => key[0] === Bucket.operations,
};

const nameOf = (key: Uint8Array) => (key[0] === Bucket.meta ? new TextDecoder().decode(key.subarray(1)) : undefined);

let history: RemovableDirectory;
beforeAll(async () => {
  history = removableDirectory();
  await makeHistory(HISTORY_SLOTS, {}, history.path);
});
afterAll(() => history.remove());

for (const [kind, isOfKind] of Object.entries(KINDS)) {
  it(`a failed write of ${kind} is the last one, is reported, and loses nothing acknowledged`, async () => {
    const directory = tempDirectory();
    cpSync(history.path, directory, { recursive: true });
    const failing = await startDevChain({}, directory);
    const told: unknown[] = [];
    failing.node.onFailure((failure) => told.push(failure));

    const { batch } = ClassicLevel.prototype;
    let writesAfter = 0;
    const writing = vi.spyOn(ClassicLevel.prototype, "batch").mockImplementation(function (
      this: ClassicLevel,
      ...args: unknown[]
    ) {
      if (failing.db.failure) writesAfter++;
      const writes = args[0] as Write[];
      if (writes.some(isOfKind)) throw Object.assign(new Error("No space left"), { code: "LEVEL_IO_ERROR" });
      return Reflect.apply(batch, this, args);
    });
    onTestFinished(() => writing.mockRestore());

    const { chain, clock } = failing.devChain;
    for (let slot = HISTORY_SLOTS + 1; slot <= HISTORY_SLOTS + SLOTS_PER_EPOCH + 1; slot++) await clock.advanceTo(slot);
    const { head, forkChoice } = chain;
    const acknowledged = [...forkChoice.ancestors(head.root)].map(({ root }) => root);
    const failure = await failing.close().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: StartError.name,
      kind: "dataDirFailed",
      message: expect.stringContaining("No space left"),
    });
    expect(told).toEqual([expect.objectContaining({ kind: "dataDirFailed" })]);
    expect(writesAfter).toBe(0);
    writing.mockRestore();

    const again = await startDevChain({}, directory);
    onTestFinished(again.close);
    expect(again.complaints).toEqual([]);
    expect(again.devChain.chain.head.slot).toBeGreaterThanOrEqual(head.slot);
    expect(again.devChain.chain.forkChoice.finalized.epoch).toBeGreaterThanOrEqual(forkChoice.finalized.epoch);
    for (const root of acknowledged) {
      expect(await again.devChain.chain.blocks.byRoot(root)).toMatchObject({ root, canonical: true });
    }
  });
}
