import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { FanalChain } from "./fanal-chain.ts";
import { blockRequests, follow } from "./following.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon } from "./lodestar-beacon.ts";

it("Lodestar syncs a phase0 chain from a configured peer, and follows it by gossip", async () => {
  const { fanal, networkDirectory, bootnodes } = await FanalChain.start([
    ...["--fork", "phase0"],
    ...["--validators", "32", "--warmup-epochs", "4"],
  ]);
  const lodestar = await LodestarBeacon.joining({
    networkDirectory,
    bootnodes,
    dialsBootnodes: true,
    directory: tempDirectory(),
    whenDone: onTestFinished,
  });
  showLastLinesOnFailure("Lodestar", lodestar.processes);
  const { first, last } = await lodestar.meanwhile(
    follow({
      leader: fanal.rest,
      follower: lodestar.rest,
      blockRequests: async () => blockRequests(await lodestar.requestsMade()),
    }),
  );
  const accepted = await lodestar.gossipAccepted();
  expect(accepted.beacon_block).toBeGreaterThanOrEqual(last - first);
  expect(accepted.beacon_aggregate_and_proof).toBeGreaterThanOrEqual(last - first);
  expect(await lodestar.gossipRejected()).toEqual({});
  expect(fanal.program.output).not.toMatch(/ (WARN|ERROR) /);
});
