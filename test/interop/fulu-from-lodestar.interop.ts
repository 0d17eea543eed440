import { expect } from "vitest";
import type { BeaconRest } from "./beacon-rest.ts";
import { blockRequests, follow, SLOTS_PER_EPOCH, untilLevel } from "./following.ts";
import { NEVER } from "./lodestar-beacon.ts";
import { LodestarChain } from "./lodestar-chain.ts";
import { testWithCurrentLodestar } from "./lodestar-install.ts";

const FULU_EPOCH = 6;
const FORK_SLOT = FULU_EPOCH * SLOTS_PER_EPOCH;
const FORKS = { altair: 0, bellatrix: 0, capella: 0, deneb: 0, electra: 0, fulu: FULU_EPOCH, gloas: NEVER } as const;

testWithCurrentLodestar(
  "follows the chain of a current Lodestar, with blobs in most blocks, from electra to fulu; late ones sync through it",
  async (install) => {
    const chain = await LodestarChain.start({ install, forkEpochs: FORKS, supernode: true });
    const { lodestar } = chain;
    const { address } = await lodestar.identity();
    const fanal = await chain.join(["--no-discovery", "--peer", address]);
    const { first, last } = await lodestar.meanwhile(
      follow({
        leader: lodestar.rest,
        follower: fanal.rest,
        blockRequests: async () => blockRequests(await lodestar.requestsServed()),
        pastSlot: FORK_SLOT + SLOTS_PER_EPOCH,
      }),
    );
    expect(first).toBeLessThan(FORK_SLOT);
    expect(fanal.program.output).not.toMatch(/ ERROR /);

    const fromGenesis = await chain.join(["--no-discovery", "--supernode", "--peer", address]);
    const fromCheckpoint = await chain.join([
      ...["--checkpoint-sync-url", lodestar.rest.url],
      ...["--no-discovery", "--peer", address],
    ]);
    for (const late of [fromGenesis, fromCheckpoint]) {
      await lodestar.meanwhile(untilLevel(late.rest, lodestar.rest));
      expect(late.program.output).not.toMatch(/ ERROR /);
    }
    for (const [from, to] of [
      [1, FORK_SLOT - 1],
      [FORK_SLOT, last],
    ] as const) {
      const theirs = await blobsIn(lodestar.rest, from, to);
      expect(theirs.flat().length).toBeGreaterThan(0);
      expect(await blobsIn(fromGenesis.rest, from, to)).toEqual(theirs);
    }
  },
);

/** The blobs of every slot; empty for a slot without a block or blobs. */
async function blobsIn(rest: BeaconRest, from: number, to: number): Promise<string[][]> {
  const slots = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return Promise.all(slots.map(async (slot) => (await rest.find<string[]>(`/eth/v1/beacon/blobs/${slot}`)) ?? []));
}
