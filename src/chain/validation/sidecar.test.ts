import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BeaconBlock, type deneb, type fulu, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { variants } from "../../../test/support/tier.ts";
import { type DataSidecar, isColumn, subnetOfSidecar } from "../../data/sidecar.ts";
import { produceWithBlobs } from "../data/blobs.test-support.ts";
import { validateBlobSidecar } from "./blob-sidecar.ts";
import { validateColumnSidecar } from "./column-sidecar.ts";
import type { ValidationContext } from "./context.ts";
import { PROPOSAL_FAULTS, refusalOf, TestChain } from "./validation-chain.test-support.ts";
import { VerifiedHeaders } from "./verified-headers.ts";

function validateOn(
  context: ValidationContext,
  sidecar: DataSidecar,
  subnet = subnetOfSidecar(context.config, sidecar),
) {
  return isColumn(sidecar)
    ? validateColumnSidecar(context, sidecar, subnet)
    : validateBlobSidecar(context, sidecar, subnet);
}

/** A copy with other contents. */
function changed(sidecar: DataSidecar, change: (copy: DataSidecar) => void): DataSidecar {
  const copy = structuredClone(sidecar);
  change(copy);
  return copy;
}

let chain: TestChain;
afterEach(() => chain.close());

const FORKS = variants({ fast: ["electra", "fulu"], full: ["deneb"] } as const);

describe.each(FORKS)("the rules for sidecars of %s", (fork) => {
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.extend(1);
    chain.clock.set(2);
  });

  const validate = (sidecar: DataSidecar, subnet?: number) => validateOn(chain.context, sidecar, subnet);
  const firstSidecar = async (options?: Parameters<typeof produceWithBlobs>[2], slot = 2) => {
    const { sidecars } = await produceWithBlobs(chain, slot, options);
    return sidecars[0]!;
  };

  test("each of a block is accepted once, and the signature of all is verified once", async () => {
    let signatures = 0;
    const { verify, verifyEach } = chain.context.bls;
    const bls = {
      verifyEach,
      verify(sets: Parameters<typeof verify>[0]) {
        signatures += sets.length;
        return verify(sets);
      },
    };
    const { sidecars, root } = await produceWithBlobs(chain, 2);
    const together = await Promise.all(sidecars.map((sidecar) => validateOn({ ...chain.context, bls }, sidecar)));
    expect(together).toEqual(sidecars.map(() => root));
    expect(signatures).toBe(1);
    for (const sidecar of sidecars.slice(0, 2)) {
      expect(await refusalOf(validate(sidecar))).toMatchObject({
        action: "ignore",
        reason: "already-known",
        known: true,
      });
    }
  });

  test("half a second before its slot it is accepted, earlier it is not", async () => {
    const sidecar = await firstSidecar({}, 3);
    chain.clock.set(3, -501);
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "ignore", reason: "future-slot" });
    chain.clock.set(3, -499);
    await validate(sidecar);
  });

  test("one of another block of the proposer is ignored, also when both come at once", async () => {
    const first = await firstSidecar();
    const other = await firstSidecar({ change: ({ body }) => body.graffiti.fill(1) });
    const settled = await Promise.allSettled([validate(first), validate(other)]);
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const late = await firstSidecar({ change: ({ body }) => body.graffiti.fill(2) });
    expect(await refusalOf(validate(late))).toMatchObject({
      action: "ignore",
      reason: "conflicting-block",
      known: false,
    });
  });

  test.each(PROPOSAL_FAULTS)("of a block with %s: %s", async (reason, action, change) => {
    expect(await refusalOf(validate(await firstSidecar({ change })))).toMatchObject({ action, reason, known: false });
  });

  test("one that names no validator is rejected, though its header has the root of one that is verified", async () => {
    const signedHeaders = new VerifiedHeaders();
    vi.spyOn(signedHeaders, "verify").mockResolvedValue();
    const sidecar = changed(await firstSidecar(), ({ signedBlockHeader }) => {
      signedBlockHeader.message.proposerIndex = 2 ** 64;
    });
    expect(await refusalOf(validateOn({ ...chain.context, signedHeaders }, sidecar))).toMatchObject({
      action: "reject",
      reason: "unknown-validator",
    });
  });

  test.each<[reason: string, change: (sidecar: DataSidecar) => void]>([
    [
      "unknown-validator",
      ({ signedBlockHeader }) => {
        signedBlockHeader.message.proposerIndex = 64;
      },
    ],
    ["bad-signature", ({ signedBlockHeader }) => signedBlockHeader.signature.copyWithin(0, 48)],
    [
      "bad-inclusion-proof",
      (sidecar) => {
        const proof = isColumn(sidecar) ? sidecar.kzgCommitmentsInclusionProof : sidecar.kzgCommitmentInclusionProof;
        proof[1]!.fill(1);
      },
    ],
    ["bad-kzg-proof", (sidecar) => (isColumn(sidecar) ? sidecar.column[1]! : sidecar.blob).fill(1, 40, 50)],
    ["bad-kzg-proof", (sidecar) => (isColumn(sidecar) ? sidecar.kzgProofs[1]! : sidecar.kzgProof).fill(1)],
  ])("%s: rejected, and not counted as seen", async (reason, change) => {
    const sidecar = await firstSidecar();
    expect(await refusalOf(validate(changed(sidecar, change)))).toMatchObject({ action: "reject", reason });
    await validate(sidecar);
  });

  test("with a parent that is not known it is rejected when its header is not signed, or does not commit to it", async () => {
    const orphan = await firstSidecar({ change: (block) => block.parentRoot.fill(7) });
    const forged = changed(orphan, ({ signedBlockHeader }) => signedBlockHeader.signature.copyWithin(0, 48));
    expect(await refusalOf(validate(forged))).toMatchObject({ action: "reject", reason: "bad-signature" });
    const foreign = changed(orphan, (sidecar) => {
      const proof = isColumn(sidecar) ? sidecar.kzgCommitmentsInclusionProof : sidecar.kzgCommitmentInclusionProof;
      proof[1]!.fill(1);
    });
    expect(await refusalOf(validate(foreign))).toMatchObject({ action: "reject", reason: "bad-inclusion-proof" });
  });

  test("with a parent that is not known it is not rejected for a proposer that the missing blocks may have added", async () => {
    const orphan = changed(
      await firstSidecar({ change: (block) => block.parentRoot.fill(7) }),
      ({ signedBlockHeader }) => {
        signedBlockHeader.message.proposerIndex = 64;
      },
    );
    expect(await refusalOf(validate(orphan))).toMatchObject({ action: "ignore", reason: "unknown-validator" });
  });

  test("it is rejected for a turn that was not its proposer's, though the header was found to be signed before the parent was known", async () => {
    const change = (block: BeaconBlock) => {
      block.proposerIndex = (block.proposerIndex + 1) % 64;
    };
    const sidecar = await firstSidecar({ change });
    const parent = vi.spyOn(chain.forkChoice, "get").mockReturnValue(undefined);
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "ignore", reason: "unknown-parent" });
    parent.mockRestore();
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "reject", reason: "wrong-proposer" });
  });

  test("on another subnet it is rejected", async () => {
    const sidecar = await firstSidecar();
    const refusal = await refusalOf(validate(sidecar, 1));
    expect(refusal).toMatchObject({ action: "reject", reason: "wrong-subnet" });
    expect(refusal.message).toContain("has the index 0, which belongs to subnet 0, not 1.");
  });

  test("of a slot that is not after the finalized one it is ignored", async () => {
    const late = await firstSidecar({ parent: chain.genesisRoot });
    const boundary = chain.extend(SLOTS_PER_EPOCH);
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    expect(await refusalOf(validate(late))).toMatchObject({ action: "ignore", reason: "finalized-slot" });
  });

  test("of a block that does not descend from the finalized one it is rejected", async () => {
    const trunk = chain.headRoot;
    const stale = chain.extend(2, { graffiti: 1 });
    const boundary = chain.extend(SLOTS_PER_EPOCH, { parent: trunk });
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    const slot = SLOTS_PER_EPOCH + 2;
    chain.clock.set(slot);
    const refusal = await refusalOf(validate(await firstSidecar({ parent: stale }, slot)));
    expect(refusal).toMatchObject({ action: "reject", reason: "not-descended-from-finalized" });
  });

  test("with a parent whose payload is invalid it is ignored", async () => {
    const sidecar = await firstSidecar();
    chain.forkChoice.onInvalidPayload(chain.headRoot, null);
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "ignore", reason: "invalid-parent" });
  });

  test("with a parent that breaks the rules it is rejected", async () => {
    const orphan = await firstSidecar({ change: (block) => block.parentRoot.fill(7) });
    chain.context.invalidBlocks.add(toRootHex(new Uint8Array(32).fill(7)));
    expect(await refusalOf(validate(orphan))).toMatchObject({ action: "reject", reason: "invalid-parent" });
  });

  test("it is ignored while its parent's state is not available, and judged when it is", async () => {
    const sidecar = await firstSidecar();
    const { head, shuffling } = chain.context.states;
    const states = { head, shuffling, preState: () => Promise.reject(new Error("gone")) };
    const refusal = await refusalOf(validateOn({ ...chain.context, states }, sidecar));
    expect(refusal).toMatchObject({ action: "ignore", reason: "state-unavailable" });
    await validate(sidecar);
  });
});

describe("the form of a blob sidecar", () => {
  test.each([
    ["deneb", 6],
    ["electra", 9],
  ] as const)("its index is below the number of blobs that a block of %s may have", async (fork, limit) => {
    chain = new TestChain(fork);
    chain.clock.set(1);
    const { sidecars } = await produceWithBlobs(chain, 1, { count: limit });
    const last = sidecars[limit - 1] as deneb.BlobSidecar;
    const refusal = await refusalOf(validateBlobSidecar(chain.context, { ...last, index: limit }, 0));
    expect(refusal).toMatchObject({ action: "reject", reason: "blob-index-out-of-range" });
    expect(refusal.message).toContain(`has the index ${limit}; the last that a block can have is ${limit - 1}.`);
    await validateBlobSidecar(chain.context, last, limit - 1);
  });

  test("there is none of a block of fulu", async () => {
    chain = new TestChain("fulu");
    const sidecar = ssz.deneb.BlobSidecar.defaultValue();
    expect(await refusalOf(validateBlobSidecar(chain.context, sidecar, 0))).toMatchObject({
      action: "reject",
      reason: "wrong-fork",
    });
  });
});

describe("the form of a column", () => {
  test.each<[fault: string, change: (sidecar: fulu.DataColumnSidecar) => void]>([
    [
      "There is no column 128; the last is 127.",
      (sidecar) => {
        sidecar.index = 128;
      },
    ],
    [
      "at least one commitment",
      (sidecar) => {
        sidecar.kzgCommitments = [];
        sidecar.column = [];
        sidecar.kzgProofs = [];
      },
    ],
    ["as many cells and proofs, not 1 and 2", (sidecar) => sidecar.column.pop()],
    ["as many cells and proofs, not 2 and 3", (sidecar) => sidecar.kzgProofs.push(sidecar.kzgProofs[0]!)],
    [
      "at most 9 are allowed",
      (sidecar) => {
        sidecar.kzgCommitments = new Array(10).fill(sidecar.kzgCommitments[0]);
      },
    ],
  ])("%s", async (fault, change) => {
    chain = new TestChain("fulu");
    chain.clock.set(1);
    const { sidecars } = await produceWithBlobs(chain, 1);
    const column = sidecars[0] as fulu.DataColumnSidecar;
    const wrong = structuredClone(column);
    change(wrong);
    const refusal = await refusalOf(validateColumnSidecar(chain.context, wrong, 0));
    expect(refusal).toMatchObject({ action: "reject", reason: "malformed-column" });
    expect(refusal.message).toContain(fault);
    await validateColumnSidecar(chain.context, column, 0);
  });

  test("there is none of a block before fulu", async () => {
    chain = new TestChain("electra");
    const sidecar = ssz.fulu.DataColumnSidecar.defaultValue();
    expect(await refusalOf(validateColumnSidecar(chain.context, sidecar, 0))).toMatchObject({
      action: "reject",
      reason: "wrong-fork",
    });
  });
});
