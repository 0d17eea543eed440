import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { FanalChain } from "./fanal-chain.ts";
import { blockRequests, follow, SLOTS_PER_EPOCH, untilLevel } from "./following.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon } from "./lodestar-beacon.ts";

const ALTAIR_EPOCH = 9;
const FORK_SLOT = ALTAIR_EPOCH * SLOTS_PER_EPOCH;

it("Lodestar syncs from a discovered node and follows it by gossip through the altair fork; a late one starts from its checkpoint", async () => {
  const { fanal, networkDirectory, bootnodes } = await FanalChain.start([
    ...["--validators", "32", "--warmup-epochs", "4"],
    ...["--fork-at", `altair=${ALTAIR_EPOCH}`],
  ]);
  const lodestar = await LodestarBeacon.joining({
    networkDirectory,
    bootnodes,
    directory: tempDirectory(),
    whenDone: onTestFinished,
  });
  showLastLinesOnFailure("Lodestar", lodestar.processes);
  const { first, last } = await lodestar.meanwhile(
    follow({
      leader: fanal.rest,
      follower: lodestar.rest,
      blockRequests: async () => blockRequests(await lodestar.requestsMade()),
      pastSlot: FORK_SLOT + SLOTS_PER_EPOCH,
    }),
  );
  expect(first).toBeLessThan(FORK_SLOT);
  const accepted = await lodestar.gossipAccepted();
  expect(accepted.beacon_block).toBeGreaterThanOrEqual(last - first);
  expect(accepted.sync_committee_contribution_and_proof).toBeGreaterThanOrEqual(last - FORK_SLOT);
  expect(await lodestar.gossipRejected()).toEqual({});
  expect(fanal.program.output).not.toMatch(/ (WARN|ERROR) /);

  const late = await LodestarBeacon.joining({
    networkDirectory,
    bootnodes,
    dialsBootnodes: true,
    checkpointSyncUrl: fanal.rest.url,
    directory: tempDirectory(),
    whenDone: onTestFinished,
  });
  await late.meanwhile(untilLevel(late.rest, fanal.rest));
});
