import { expect, it } from "vitest";
import { GloasChain } from "../../../test/support/chain/gloas-chain.ts";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { restoreRecentBlocks } from "./recent-blocks.ts";

it.each([
  ["another form", { blocks: 1 }],
  ["no list of payloads", { blocks: [] }],
  [
    "votes that are not hex",
    { blocks: [{ root: "0x", slot: 1, isBoosted: true, payloadVotes: "0xzz" }], payloads: [] },
  ],
])("ignores stored facts with %s, and still knows proposers and committees", async (_, stored) => {
  const gloas = await GloasChain.open();
  await gloas.run(2);
  const { forkChoice, blocks, states, head } = gloas.chain;
  const boosted = forkChoice.proposerBoostRoot;
  const db = await openEmptyDatabase();
  const batch = db.batch();
  batch.meta.putRecentBlocks(stored);
  await batch.write();
  const restored: unknown[] = [];
  const payloadQueue = { capture: () => [], restore: (payloads: unknown) => restored.push(payloads) };
  await restoreRecentBlocks({ db, forkChoice, payloadQueue, blocks, states, logger: createRecordingLogger() });
  expect(restored).toEqual([[]]);
  expect(forkChoice.proposerBoostRoot).toBe(boosted);
  const { message } = (await blocks.signedByRoot(head.root))!;
  expect(forkChoice.get(head.root)?.proposerIndex).toBe(message.proposerIndex);
});
