import { join } from "node:path";
import type { DevFork } from "../../src/dev/forks.ts";
import { NodeProcess } from "../support/node-process.ts";
import { printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

const P2P = ["--p2p-address", "127.0.0.1", "--p2p-port", "0", "--no-discovery"];
const POLL = { pollMs: 20 };

interface PeerSync {
  fork: DevFork;
  validators: number;
  epochs: number;
}

/** Syncs the history of a dev chain to a new node from one peer, each in its own process. */
export function benchPeerSync({ fork, validators, epochs }: PeerSync): Promise<void> {
  return withTempDirectory(async (directory) => {
    const chain = ["--fork", fork, "--validators", String(validators), "--warmup-epochs", String(epochs)];
    // The slots are so long that the chain is idle once the history exists.
    const maker = await NodeProcess.start("The peer", [
      ...["dev", "--p2p", ...P2P, "--data-dir", join(directory, "peer"), "--slot-seconds", "60"],
      ...chain,
    ]);
    try {
      const [, address] = await maker.untilLine(/Listening for peers\s+address=(\S+)/);
      await maker.untilLine(/Dev chain is running/);
      await syncFrom(address!, await maker.headSlot(), directory);
    } finally {
      await maker.stop();
    }
  });
}

/** The time from the first block excludes the start of the node and the connection. */
async function syncFrom(address: string, head: number, directory: string): Promise<void> {
  const network = join(directory, "peer", "network");
  const args = ["node", "--network", network, ...P2P, "--peer", address, "--data-dir", join(directory, "node")];
  const node = await NodeProcess.start("The node", args);
  try {
    const reached = (slot: number) =>
      node.callUntil<{ head_slot: string }>("getChainHead", ({ head_slot }) => Number(head_slot) >= slot, POLL);
    const first = Number((await reached(1)).head_slot);
    const firstAt = performance.now();
    const { cpuSeconds } = node.usage;
    await reached(head);
    const elapsed = performance.now() - firstAt;
    const slots = head - first;
    printHeader(`sync of ${head} slots from one peer`, "slots/s", "CPU ms per slot", "start to first block");
    const spent = (1000 * (node.usage.cpuSeconds - cpuSeconds)) / slots;
    printRow("fanal node", ((1000 * slots) / elapsed).toFixed(0), spent.toFixed(2), seconds(firstAt - node.startedAt));
  } finally {
    await node.stop();
  }
}
