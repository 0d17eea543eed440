import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { CONSENSUS_FORKS, type ScheduledFork } from "../../src/dev/forks.ts";
import { advance, openDevChain } from "../support/chain/dev-chain.ts";

const GLOAS: ScheduledFork[] = [{ fork: "gloas", epoch: 0 }];
const ACROSS: ScheduledFork[] = [
  { fork: "fulu", epoch: 0 },
  { fork: "gloas", epoch: 2 },
];

describe("a dev chain on gloas", () => {
  it.each<[string, ScheduledFork[]]>([
    ["from genesis", GLOAS],
    ["from fulu", ACROSS],
    ["from every earlier fork", CONSENSUS_FORKS.map((fork, epoch) => ({ fork, epoch }))],
  ])("finalizes %s, with all payloads", async (_, forks) => {
    const { devChain, complaints } = await openDevChain({ speed: 0, forks });
    const { chain } = devChain;
    const epochs = forks.at(-1)!.epoch + 4;
    await advance(devChain, epochs * SLOTS_PER_EPOCH);
    expect(complaints).toEqual([]);
    expect(chain.finalizedCheckpoint.epoch).toBe(epochs - 2);
    expect(chain.head.slot).toBe(epochs * SLOTS_PER_EPOCH);
    expect(chain.headNode.payloadStatus).toBe("full");
  });

  it("with blobs", async () => {
    const { devChain, complaints } = await openDevChain({ speed: 0, forks: ACROSS, devBlobs: { min: 0, max: 2 } });
    await advance(devChain, 5 * SLOTS_PER_EPOCH);
    expect(complaints).toEqual([]);
    expect(devChain.chain.finalizedCheckpoint.epoch).toBe(3);
    expect(devChain.chain.headNode.payloadStatus).toBe("full");
  });

  it.each<[string, ScheduledFork[]]>([
    ["from genesis", GLOAS],
    ["from fulu", ACROSS],
  ])("with the EVM %s", async (_, forks) => {
    const { devChain, complaints } = await openDevChain({ speed: 0, forks, evm: { chainId: 31337 } as never });
    await advance(devChain, 5 * SLOTS_PER_EPOCH);
    expect(complaints).toEqual([]);
    expect(devChain.chain.finalizedCheckpoint.epoch).toBe(3);
  });
});
