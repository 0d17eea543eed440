import { expect, it } from "vitest";
import { blockRequests, follow } from "./following.ts";
import { NEVER } from "./lodestar-beacon.ts";
import { LodestarChain } from "./lodestar-chain.ts";

it("syncs from Lodestar as a configured peer, and follows its phase0 chain by gossip", async () => {
  const chain = await LodestarChain.start({ forkEpochs: { altair: NEVER } });
  const { lodestar } = chain;
  const { address } = await lodestar.identity();
  const fanal = await chain.join(["--no-discovery", "--peer", address]);
  await lodestar.meanwhile(
    follow({
      leader: lodestar.rest,
      follower: fanal.rest,
      blockRequests: async () => blockRequests(await lodestar.requestsServed()),
    }),
  );
  expect(await fanal.blockMesh()).toEqual([address.split("/").at(-1)]);
  expect(fanal.program.output).not.toMatch(/ (WARN|ERROR) /);
});
