import { expect, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { FanalChain } from "./fanal-chain.ts";
import { blockRequests, follow, SLOTS_PER_EPOCH, untilLevel } from "./following.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon } from "./lodestar-beacon.ts";
import { testWithCurrentLodestar } from "./lodestar-install.ts";

const FULU_EPOCH = 9;
const FORK_SLOT = FULU_EPOCH * SLOTS_PER_EPOCH;

for (const { title, blobs } of [
  { title: "without blobs", blobs: [] },
  { title: "with blobs in every block", blobs: ["--dev-blobs", "1-3"] },
]) {
  testWithCurrentLodestar(
    `a current Lodestar syncs from a chain ${title} and follows it by gossip from electra to fulu; a late one starts from its checkpoint`,
    async (install) => {
      const { fanal, networkDirectory, bootnodes } = await FanalChain.start([
        ...["--validators", "32", "--warmup-epochs", "4", "--supernode"],
        ...["--fork", "electra", "--fork-at", `fulu=${FULU_EPOCH}`],
        ...blobs,
      ]);
      const joining = () => ({
        install,
        networkDirectory,
        bootnodes,
        directory: tempDirectory(),
        whenDone: onTestFinished,
      });
      const lodestar = await LodestarBeacon.joining(joining());
      showLastLinesOnFailure("Lodestar", lodestar.processes);
      const { first, last } = await lodestar.meanwhile(
        follow({
          leader: fanal.rest,
          follower: lodestar.rest,
          blockRequests: async () => {
            const { beacon_blocks_by_root: _, ...byRange } = blockRequests(await lodestar.requestsMade());
            // If data arrives before its block, Lodestar requests the block by root.
            return byRange;
          },
          pastSlot: FORK_SLOT + SLOTS_PER_EPOCH,
        }),
      );
      expect(first).toBeLessThan(FORK_SLOT);
      const accepted = await lodestar.gossipAccepted();
      expect(accepted.beacon_block).toBeGreaterThanOrEqual(last - first);
      if (blobs.length > 0) {
        expect(accepted.blob_sidecar).toBeGreaterThan(0);
        expect(accepted.data_column_sidecar).toBeGreaterThan(0);
      }
      expect(await lodestar.gossipRejected()).toEqual({});

      for (const late of await Promise.all([
        LodestarBeacon.joining({ ...joining(), supernode: true }),
        LodestarBeacon.joining({ ...joining(), checkpointSyncUrl: fanal.rest.url }),
      ])) {
        await late.meanwhile(untilLevel(late.rest, fanal.rest));
      }
      expect(fanal.program.output).not.toMatch(/ (WARN|ERROR) /);
    },
  );
}
