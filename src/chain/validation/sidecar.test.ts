import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BeaconBlock, type deneb, type fulu, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { PROPOSAL_FAULTS, refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { variants } from "../../../test/support/suite/tier.ts";
import { type HeaderSidecar, isColumn, subnetOfSidecar } from "../../data/sidecar.ts";
import { validateBlobSidecar } from "./blob-sidecar.ts";
import { validateColumnSidecar } from "./column-sidecar.ts";
import type { ValidationContext } from "./context.ts";
import { VerifiedHeaders } from "./verified-headers.ts";

function validateOn(
  context: ValidationContext,
  sidecar: HeaderSidecar,
  subnet = subnetOfSidecar(context.config, sidecar),
) {
  return isColumn(sidecar)
    ? validateColumnSidecar(context, sidecar, subnet)
    : validateBlobSidecar(context, sidecar, subnet);
}

/** Returns a changed copy. */
function changed(sidecar: HeaderSidecar, change: (copy: HeaderSidecar) => void): HeaderSidecar {
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

  const validate = (sidecar: HeaderSidecar, subnet?: number) => validateOn(chain.context, sidecar, subnet);
  const firstSidecar = async (options?: Parameters<typeof produceWithBlobs>[2], slot = 2) => {
    const { sidecars } = await produceWithBlobs(chain, slot, options);
    return sidecars[0]!;
  };

  it("accepts each sidecar of a block once and verifies the signature once", async () => {
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

  it("accepts a sidecar half a second before its slot, not earlier", async () => {
    const sidecar = await firstSidecar({}, 3);
    chain.clock.set(3, -501);
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "ignore", reason: "future-slot" });
    chain.clock.set(3, -499);
    await validate(sidecar);
  });

  it("ignores a sidecar of a conflicting block, also concurrently", async () => {
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

  it.each(PROPOSAL_FAULTS)("of a block with %s: %s", async (reason, action, change) => {
    expect(await refusalOf(validate(await firstSidecar({ change })))).toMatchObject({ action, reason, known: false });
  });

  it("rejects an unknown proposer even if the header root is verified", async () => {
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

  it.each<[reason: string, change: (sidecar: HeaderSidecar) => void]>([
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
  ])("%s: rejects without marking as seen", async (reason, change) => {
    const sidecar = await firstSidecar();
    expect(await refusalOf(validate(changed(sidecar, change)))).toMatchObject({ action: "reject", reason });
    await validate(sidecar);
  });

  it("with an unknown parent, rejects an unsigned header or a wrong inclusion proof", async () => {
    const orphan = await firstSidecar({ change: (block) => block.parentRoot.fill(7) });
    const forged = changed(orphan, ({ signedBlockHeader }) => signedBlockHeader.signature.copyWithin(0, 48));
    expect(await refusalOf(validate(forged))).toMatchObject({ action: "reject", reason: "bad-signature" });
    const foreign = changed(orphan, (sidecar) => {
      const proof = isColumn(sidecar) ? sidecar.kzgCommitmentsInclusionProof : sidecar.kzgCommitmentInclusionProof;
      proof[1]!.fill(1);
    });
    expect(await refusalOf(validate(foreign))).toMatchObject({ action: "reject", reason: "bad-inclusion-proof" });
  });

  it("with an unknown parent, does not reject a proposer that missing blocks may have added", async () => {
    const orphan = changed(
      await firstSidecar({ change: (block) => block.parentRoot.fill(7) }),
      ({ signedBlockHeader }) => {
        signedBlockHeader.message.proposerIndex = 64;
      },
    );
    expect(await refusalOf(validate(orphan))).toMatchObject({ action: "ignore", reason: "unknown-validator" });
  });

  it("rejects a proposer that was not on duty, even if the header signature is verified", async () => {
    const change = (block: BeaconBlock) => {
      block.proposerIndex = (block.proposerIndex + 1) % 64;
    };
    const sidecar = await firstSidecar({ change });
    const parent = vi.spyOn(chain.forkChoice, "get").mockReturnValue(undefined);
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "ignore", reason: "unknown-parent" });
    parent.mockRestore();
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "reject", reason: "wrong-proposer" });
  });

  it("rejects a sidecar on the wrong subnet", async () => {
    const sidecar = await firstSidecar();
    const refusal = await refusalOf(validate(sidecar, 1));
    expect(refusal).toMatchObject({ action: "reject", reason: "wrong-subnet" });
    expect(refusal.message).toContain("with index 0 arrived on subnet 1, but belongs to subnet 0.");
  });

  it("ignores slots up to the finalized one", async () => {
    const late = await firstSidecar({ parent: chain.genesisRoot });
    const boundary = chain.extend(SLOTS_PER_EPOCH);
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    expect(await refusalOf(validate(late))).toMatchObject({ action: "ignore", reason: "finalized-slot" });
  });

  it("rejects a block off the finalized chain", async () => {
    const trunk = chain.headRoot;
    const stale = chain.extend(2, { graffiti: 1 });
    const boundary = chain.extend(SLOTS_PER_EPOCH, { parent: trunk });
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    const slot = SLOTS_PER_EPOCH + 2;
    chain.clock.set(slot);
    const refusal = await refusalOf(validate(await firstSidecar({ parent: stale }, slot)));
    expect(refusal).toMatchObject({ action: "reject", reason: "not-descended-from-finalized" });
  });

  it("ignores a parent with an invalid payload", async () => {
    const sidecar = await firstSidecar();
    chain.forkChoice.onInvalidPayload(chain.headRoot, null);
    expect(await refusalOf(validate(sidecar))).toMatchObject({ action: "ignore", reason: "invalid-parent" });
  });

  it("rejects a parent that violates consensus rules", async () => {
    const orphan = await firstSidecar({ change: (block) => block.parentRoot.fill(7) });
    chain.context.invalidBlocks.add(toRootHex(new Uint8Array(32).fill(7)));
    expect(await refusalOf(validate(orphan))).toMatchObject({ action: "reject", reason: "invalid-parent" });
  });

  it("ignores a sidecar while its parent's state is unavailable", async () => {
    const sidecar = await firstSidecar();
    const states = { ...chain.context.states, preState: () => Promise.reject(new Error("gone")) };
    const refusal = await refusalOf(validateOn({ ...chain.context, states }, sidecar));
    expect(refusal).toMatchObject({ action: "ignore", reason: "state-unavailable" });
    await validate(sidecar);
  });
});

describe("blob sidecar format", () => {
  it.each([
    ["deneb", 6],
    ["electra", 9],
  ] as const)("limits the index on %s", async (fork, limit) => {
    chain = new TestChain(fork);
    chain.clock.set(1);
    const { sidecars } = await produceWithBlobs(chain, 1, { count: limit });
    const last = sidecars[limit - 1] as deneb.BlobSidecar;
    const refusal = await refusalOf(validateBlobSidecar(chain.context, { ...last, index: limit }, 0));
    expect(refusal).toMatchObject({ action: "reject", reason: "blob-index-out-of-range" });
    expect(refusal.message).toContain(`has index ${limit}, the maximum is ${limit - 1}.`);
    await validateBlobSidecar(chain.context, last, limit - 1);
  });

  it("rejects blob sidecars from Fulu on", async () => {
    chain = new TestChain("fulu");
    const sidecar = ssz.deneb.BlobSidecar.defaultValue();
    expect(await refusalOf(validateBlobSidecar(chain.context, sidecar, 0))).toMatchObject({
      action: "reject",
      reason: "wrong-fork",
    });
  });
});

describe("column sidecar format", () => {
  it.each<[fault: string, change: (sidecar: fulu.DataColumnSidecar) => void]>([
    [
      "Column index 128 is out of range: the maximum is 127.",
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
    ["but 1 cells and 2 proofs", (sidecar) => sidecar.column.pop()],
    ["but 2 cells and 3 proofs", (sidecar) => sidecar.kzgProofs.push(sidecar.kzgProofs[0]!)],
    [
      "the maximum is 9",
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

  it("rejects columns before Fulu", async () => {
    chain = new TestChain("electra");
    const sidecar = ssz.fulu.DataColumnSidecar.defaultValue();
    expect(await refusalOf(validateColumnSidecar(chain.context, sidecar, 0))).toMatchObject({
      action: "reject",
      reason: "wrong-fork",
    });
  });
});
