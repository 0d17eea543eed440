import { expect, it } from "vitest";
import { blocksUpTo, chainFinalizedByLodestar, GRAFFITI_BYTES } from "./finalizing-chain.ts";

const FORKS = ["--fork-at", "altair=1", "--fork-at", "bellatrix=2", "--fork-at", "capella=3"];
const CAPELLA_SLOT = 24;

it("Lodestar's validator client finalizes a chain from phase0 to capella with the signer of the node", async () => {
  const { program, finalizedSlot } = await chainFinalizedByLodestar("phase0", CAPELLA_SLOT + 8, {
    flags: [...FORKS, "--signer-port", "0"],
    keyFlags: async ({ program: chain }) => {
      const signerUrl = (await chain.untilLine(/Web3Signer API is served at (http:\S+)/))[1]!;
      return ["--externalSigner.url", signerUrl, "--externalSigner.fetch"];
    },
  });
  const blocks = await blocksUpTo(program, finalizedSlot);
  expect(new Set(blocks.map(({ body }) => body.graffiti))).toEqual(new Set([GRAFFITI_BYTES]));
  expect(blocks.filter(({ slot }) => Number(slot) >= CAPELLA_SLOT).length).toBeGreaterThan(0);
  const everyMember = "0xffffffff";
  expect(blocks.map(({ body }) => body.sync_aggregate?.sync_committee_bits)).toContain(everyMember);
});
