/** Serves a dev chain over JSON-RPC and REST and reports both URLs. The parent advances its slots. */
import { parentGone, report } from "../support/child.ts";
import { withDevChain } from "../support/dev-chain.ts";

export interface NodeAddresses {
  jsonRpcUrl: string;
  restUrl: string;
}

export interface CpuUsage {
  cpuMicroseconds: number;
}

export interface MemoryUsage {
  residentBytes: number;
}

export interface PublishedHead {
  slot: string;
  block: string;
  /** Milliseconds since 1970. */
  time: number;
}

export interface PublishedHeads {
  heads: PublishedHead[];
  cpuMicroseconds: number;
}

/** More epochs than any run reaches. */
const LOCKSTEP_EPOCHS = 1000;

await withDevChain(
  { validators: 64, forks: [{ fork: "fulu", epoch: 0 }], epochs: LOCKSTEP_EPOCHS },
  async ({ devChain, node }) => {
    const anywhere = { host: "127.0.0.1", port: 0 };
    const { jsonRpcUrl, restUrl } = await node.serve({ jsonRpc: anywhere, rest: anywhere });
    const addresses: NodeAddresses = { jsonRpcUrl: jsonRpcUrl!, restUrl: restUrl! };
    const { chain, clock } = devChain;

    async function passSlots(slots: number): Promise<PublishedHeads> {
      const heads: PublishedHead[] = [];
      const end = chain.events.on("head", ({ slot, root }) => {
        heads.push({ slot: String(slot), block: root, time: performance.timeOrigin + performance.now() });
      });
      const before = cpu().cpuMicroseconds;
      await clock.advanceTo(clock.currentSlot + slots);
      end();
      return { heads, cpuMicroseconds: cpu().cpuMicroseconds - before };
    }

    process.on("message", (message: { slots: number } | { ask: "cpu" | "memory" }) => {
      if ("slots" in message) void passSlots(message.slots).then(report);
      else report(message.ask === "cpu" ? cpu() : memory());
    });
    report(addresses);
    await parentGone();
  },
);

function cpu(): CpuUsage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system };
}

function memory(): MemoryUsage {
  globalThis.gc?.();
  return { residentBytes: process.memoryUsage.rss() };
}
