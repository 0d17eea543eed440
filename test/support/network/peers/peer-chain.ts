import { createBeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type fulu, type RootHex, ssz } from "@lodestar/types";
import { devChainConfig } from "../../../../src/dev/chain-config.ts";
import type { ScheduledFork } from "../../../../src/dev/forks.ts";
import type { PeerSessionsChain } from "../../../../src/network/peers/peer-sessions.ts";

const FORKS: ScheduledFork[] = [{ fork: "altair", epoch: 4 }];

/** Schedules altair at epoch 4. `genesis` selects the network. */
function testConfig(genesis = 3) {
  const chainConfig = devChainConfig({ forks: FORKS, slotSeconds: 6, genesisTime: 1_700_000_000 });
  return createBeaconConfig(chainConfig, new Uint8Array(32).fill(genesis));
}

/** The chain state that peers are compared with. Tests set its slot. */
export class PeerChain implements PeerSessionsChain {
  readonly config: ReturnType<typeof testConfig>;
  slot: number;
  finalizedCheckpoint: { epoch: number; root: RootHex } = { epoch: 0, root: rootHex(0) };
  /** Canonical roots by slot. */
  readonly roots = new Map<number, RootHex>();
  readonly blocks = { rootAtOrBefore: async (slot: number) => this.roots.get(slot) ?? null };
  readonly clock: PeerSessionsChain["clock"];

  constructor({ slot = 0, genesis }: { slot?: number; genesis?: number } = {}) {
    this.config = testConfig(genesis);
    this.slot = slot;
    const current = () => this.slot;
    this.clock = {
      get currentSlot() {
        return current();
      },
      get currentEpoch() {
        return computeEpochAtSlot(current());
      },
      currentSlotWithTolerance: current,
    };
  }

  /** Returns the status of a peer at the same position of the chain. */
  status(changes: Partial<fulu.Status> = {}): fulu.Status {
    const boundary = this.config.getForkBoundaryAtEpoch(this.clock.currentEpoch);
    return {
      ...ssz.fulu.Status.defaultValue(),
      forkDigest: this.config.forkBoundary2ForkDigest(boundary),
      headSlot: this.slot,
      ...changes,
    };
  }
}

export function root(seed: number): Uint8Array {
  return new Uint8Array(32).fill(seed);
}

export function rootHex(seed: number): RootHex {
  return `0x${Buffer.from(root(seed)).toString("hex")}`;
}

export const startOf = (epoch: number) => epoch * SLOTS_PER_EPOCH;
