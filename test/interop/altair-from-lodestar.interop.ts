import { expect, it } from "vitest";
import { blockRequests, follow, SLOTS_PER_EPOCH, untilLevel } from "./following.ts";
import { LodestarChain } from "./lodestar-chain.ts";

const ALTAIR_EPOCH = 5;
const FORK_SLOT = ALTAIR_EPOCH * SLOTS_PER_EPOCH;

it("discovers Lodestar and follows its chain by gossip through the altair fork; late nodes sync through it", async () => {
  const chain = await LodestarChain.start({ forkEpochs: { altair: ALTAIR_EPOCH } });
  const { lodestar } = chain;
  const { enr, address } = await lodestar.identity();
  const fanal = await chain.join(["--bootnodes", enr]);
  const { first } = await lodestar.meanwhile(
    follow({
      leader: lodestar.rest,
      follower: fanal.rest,
      blockRequests: async () => blockRequests(await lodestar.requestsServed()),
      pastSlot: FORK_SLOT + SLOTS_PER_EPOCH,
    }),
  );
  expect(first).toBeLessThan(FORK_SLOT);
  expect(fanal.program.output).not.toMatch(/ (WARN|ERROR) /);

  const fromGenesis = await chain.join(["--no-discovery", "--peer", address]);
  const fromCheckpoint = await chain.join([
    ...["--checkpoint-sync-url", lodestar.rest.url],
    ...["--no-discovery", "--peer", address],
  ]);
  for (const late of [fromGenesis, fromCheckpoint]) {
    await lodestar.meanwhile(untilLevel(late.rest, lodestar.rest));
    // This Lodestar serves the checkpoint block in JSON only, so the node may warn.
    expect(late.program.output).not.toMatch(/ ERROR /);
  }
  expect(fromCheckpoint.program.output).not.toMatch(/Starting from state +slot=0 /);
});
