import { afterEach, describe, expect, it } from "vitest";
import { type BlockWithBlobs, produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import type { DataSidecar } from "../../data/sidecar.ts";
import { blobsOfBlock, DataUnavailableError } from "./blobs-of-block.ts";

describe("blobsOfBlock", () => {
  let chain: TestChain;
  afterEach(() => chain.close());

  /** Reads the blobs on a node that stores these sidecars. */
  const blobsOf = (
    block: BlockWithBlobs,
    stored: readonly DataSidecar[],
    kzg: Pick<TestChain["kzg"], "recover"> = chain.kzg,
    keptColumns = 8,
  ) =>
    blobsOfBlock(block, {
      kzg,
      keptColumns,
      hasColumns: () => chain.config.getForkName(block.signed.message.slot) === "fulu",
      sidecars: async (_, indices) => stored.filter(({ index }) => indices?.includes(index) ?? true),
    });
  const unable = { recover: () => Promise.reject(new Error("Nothing is to be computed.")) };

  it("before Fulu, requires all blob sidecars", async () => {
    chain = new TestChain("deneb");
    const block = await produceWithBlobs(chain, 1, { count: 3 });
    expect(await blobsOf(block, block.sidecars)).toEqual(block.blobs);
    const lacking = blobsOf(block, block.sidecars.slice(1));
    await expect(lacking).rejects.toThrow("Only 2 of 3 blobs of the block at slot 1 are available.");
    await expect(lacking).rejects.toBeInstanceOf(DataUnavailableError);
    expect(await blobsOf(await produceWithBlobs(chain, 1, { count: 0 }), [])).toEqual([]);
  });

  it("from Fulu on, joins the first half of the columns or recovers from any half", async () => {
    chain = new TestChain("fulu");
    const block = await produceWithBlobs(chain, 1);
    expect(await blobsOf(block, block.sidecars.slice(0, 64), unable)).toEqual(block.blobs);
    expect(await blobsOf(block, block.sidecars.slice(64))).toEqual(block.blobs);
    expect(await blobsOf(block, block.sidecars.slice(10, 84))).toEqual(block.blobs);
    await expect(blobsOf(block, block.sidecars.slice(65))).rejects.toThrow(
      "64 are needed for its blobs. This node keeps 8 of 128 columns. Use --supernode to keep all.",
    );
    await expect(blobsOf(block, [], unable, 128)).rejects.toThrow(
      "Only 0 of 128 columns of the block at slot 1 are available; 64 are needed for its blobs. " +
        "The others were not published, or have not arrived.",
    );
  });
});
