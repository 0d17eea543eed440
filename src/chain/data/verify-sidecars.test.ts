import type { deneb, fulu } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BlockWithBlobs, produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { type HeaderSidecar, isColumn } from "../../data/sidecar.ts";
import { verifySidecars, WrongSidecarError } from "./verify-sidecars.ts";

async function errorOf(promise: Promise<void>): Promise<WrongSidecarError> {
  const error: unknown = await promise.then(
    () => undefined,
    (error) => error,
  );
  if (error instanceof WrongSidecarError) return error;
  throw new Error("The sidecars were taken.", { cause: error });
}

describe.each(["electra", "fulu"] as const)("verifySidecars on %s", (fork) => {
  let chain: TestChain;
  let block: BlockWithBlobs;
  let other: BlockWithBlobs;
  beforeAll(async () => {
    chain = new TestChain(fork);
    block = await produceWithBlobs(chain, 2);
    other = await produceWithBlobs(chain, 3, { count: 3 });
  });
  afterAll(() => chain.close());

  const verify = (...entries: { block: BlockWithBlobs; sidecars: readonly HeaderSidecar[] }[]) =>
    verifySidecars(chain.config, chain.kzg, entries);
  /** The block's sidecars, with a change to the second one. */
  const withWrong = (change: (copy: HeaderSidecar) => void) => {
    const [first, second] = block.sidecars.slice(0, 2).map((sidecar) => structuredClone(sidecar));
    change(second!);
    return [first!, second!];
  };

  it("verifies several blocks in one batch", async () => {
    chain.kzg.batches = 0;
    await verify({ block, sidecars: block.sidecars }, { block: other, sidecars: other.sidecars.slice(1, 3) });
    expect(chain.kzg.batches).toBe(1);
    await verify({ block, sidecars: [] });
    expect(chain.kzg.batches).toBe(1);
  });

  it.each<[fault: string, change: (sidecar: HeaderSidecar) => void]>([
    [
      "its header has root 0x",
      ({ signedBlockHeader }) => {
        signedBlockHeader.message.slot++;
      },
    ],
    [
      "its header's signature differs from the block's.",
      ({ signedBlockHeader }) => signedBlockHeader.signature.fill(1),
    ],
    [
      "its commitments differ from the block's.",
      (sidecar) => (isColumn(sidecar) ? sidecar.kzgCommitments[1]! : sidecar.kzgCommitment).fill(1),
    ],
    [
      "its inclusion proof is invalid.",
      (sidecar) =>
        (isColumn(sidecar) ? sidecar.kzgCommitmentsInclusionProof : sidecar.kzgCommitmentInclusionProof)[0]!.fill(1),
    ],
    ["its KZG proof is invalid.", (sidecar) => (isColumn(sidecar) ? sidecar.column[1]! : sidecar.blob).fill(1, 1, 9)],
  ])("%s", async (fault, change) => {
    const entries = [
      { block: other, sidecars: other.sidecars.slice(0, 2) },
      { block, sidecars: withWrong(change) },
    ];
    const error = await errorOf(verify(...entries));
    expect(error.message).toContain(` 1 of the block at slot 2 is invalid: ${fault}`);
    expect(error).toMatchObject({ index: 1, block: { root: block.root } });
  });

  it("rejects duplicates, sidecars of other blocks and of the other kind", async () => {
    const [first] = block.sidecars;
    expect((await errorOf(verify({ block, sidecars: [first!, first!] }))).message).toContain("it is a duplicate.");
    const foreign = await errorOf(verify({ block, sidecars: other.sidecars.slice(0, 1) }));
    expect(foreign.message).toContain(`its header has root ${other.root}, expected ${block.root}.`);
    const { kzgCommitments: _, column: __, ...rest } = first as fulu.DataColumnSidecar;
    const otherKind = isColumn(first!)
      ? (rest as unknown as deneb.BlobSidecar)
      : { ...rest, column: [], kzgCommitments: [] };
    const wrongKind = await errorOf(verify({ block, sidecars: [otherKind] }));
    expect(wrongKind.message).toContain(
      fork === "fulu" ? "have column sidecars from fulu on" : "have blob sidecars before fulu",
    );
  });

  it("reports an invalid index or number of cells", async () => {
    const [sidecar] = withWrong(() => {});
    if (!isColumn(sidecar!)) {
      const { message } = await errorOf(verify({ block, sidecars: [{ ...sidecar!, index: 2 }] }));
      expect(message).toContain("Blob 2 of the block at slot 2 is invalid: the block has only 2 blobs.");
      return;
    }
    const { message } = await errorOf(verify({ block, sidecars: [{ ...sidecar, column: sidecar.column.slice(1) }] }));
    expect(message).toContain("It has 2 commitments, but 1 cells and 2 proofs.");
  });
});
