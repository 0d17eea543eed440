import { CELLS_PER_EXT_BLOB } from "@lodestar/params";
import type { BlobsBundle } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it, vi } from "vitest";
import { RECOVERY_COLUMNS } from "../../src/chain/data/blobs-of-block.ts";
import { validateGossipBlock } from "../../src/chain/validation/block.ts";
import type { DataSidecar, HeaderSidecar } from "../../src/data/sidecar.ts";
import { versionedHashesOf } from "../../src/execution/engine.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { emptyStoredChain, openStoredChain } from "../support/chain/stored-chain.ts";
import { sharedKzg } from "../support/data/kzg/shared-kzg.ts";
import { ScriptedEngine } from "../support/execution/scripted-engine.ts";

/** The only published sidecars of a block. */
const half = (sidecars: readonly HeaderSidecar[]) => sidecars.slice(0, RECOVERY_COLUMNS);

it("a node that follows a chain of fulu gets data from gossip, by reconstruction, and from its execution client", async () => {
  const { devChain } = await openDevChain({
    speed: 0,
    forks: [{ fork: "fulu", epoch: 0 }],
    chainTuning: { kzg: sharedKzg },
    devBlobs: { min: 1, max: 1 },
  });
  await devChain.control.time.advance({ slots: 3 });
  const blocks = await Promise.all(
    [1, 2, 3].map(async (slot) => {
      const block = (await devChain.chain.blocks.canonicalAtSlot(slot))!;
      return { ...block, sidecars: (await devChain.chain.data.sidecars(block)) as HeaderSidecar[] };
    }),
  );
  const [first, second, third] = blocks as [(typeof blocks)[0], (typeof blocks)[0], (typeof blocks)[0]];

  const engine = new ScriptedEngine();
  const stored = await emptyStoredChain(devChain);
  const { chain, clock, complaints } = await openStoredChain(stored, { slot: 4, engine, kzg: sharedKzg });
  const made: DataSidecar[] = [];
  chain.events.on("sidecarsCreated", ({ sidecars }) => made.push(...sidecars));

  // Half of the columns are enough, after a grace period for the rest.
  await Promise.all(half(first.sidecars).map((sidecar) => chain.sidecars.process(sidecar, sidecar.index)));
  const imported = chain.importBlock(first.signed);
  await vi.waitUntil(() => chain.isWaitingForData(first.root));
  expect(made).toEqual([]);
  await clock.advanceTo(5);
  expect(await imported).toEqual({ root: first.root, known: false });
  expect(made).toEqual(first.sidecars.slice(RECOVERY_COLUMNS));
  const blobs = await devChain.chain.data.blobs(first);
  expect(blobs).toHaveLength(1);
  expect(await chain.data.blobs(first)).toEqual(blobs);

  // One column less is not enough, regardless of time.
  const tooFew = half(second.sidecars).slice(1);
  await Promise.all(tooFew.map((sidecar) => chain.sidecars.process(sidecar, sidecar.index)));
  await expect(chain.importBlock(second.signed, { waitsForData: false })).rejects.toMatchObject({
    reason: "data-unavailable",
  });
  await clock.advanceTo(8);
  expect(chain.isWaitingForData(second.root)).toBe(true);
  const head = Promise.withResolvers<string>();
  chain.events.on("head", ({ root }) => head.resolve(root));
  await chain.sidecars.process(second.sidecars[0]!, 0);
  await clock.advanceTo(9);
  expect(await head.promise).toBe(second.root);

  // Blobs of the execution client need not be sent.
  made.splice(0);
  const bundle = await bundleOf(third);
  versionedHashesOf(bundle.commitments).forEach((hash, index) => {
    const proofs = bundle.proofs.slice(index * CELLS_PER_EXT_BLOB, (index + 1) * CELLS_PER_EXT_BLOB);
    engine.blobs.set(toRootHex(hash), { blob: bundle.blobs[index]!, proofs });
  });
  const { root } = await validateGossipBlock(chain.validation, third.signed);
  chain.events.publish("blockGossip", { slot: 3, root, signed: third.signed });
  await chain.importBlock(third.signed);
  expect(chain.head.root).toBe(third.root);
  expect(made).toEqual(third.sidecars);
  expect(await chain.data.sidecars(third)).toEqual(third.sidecars);
  expect(complaints).toEqual([expect.stringContaining("Block waits for missing data")]);

  async function bundleOf(block: (typeof blocks)[0]): Promise<BlobsBundle> {
    const columns = block.sidecars.flatMap((sidecar) => ("kzgCommitments" in sidecar ? [sidecar] : []));
    const { kzgCommitments: commitments } = columns[0]!;
    const proofs = commitments.flatMap((_, row) => columns.map(({ kzgProofs }) => kzgProofs[row]!));
    return { commitments, proofs, blobs: await devChain.chain.data.blobs(block) };
  }
});
