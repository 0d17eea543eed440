import { Tree } from "@chainsafe/persistent-merkle-tree";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { ZERO_HASH, ZERO_HASH_HEX } from "@lodestar/params";
import type { Api } from "../../src/api/api.ts";
import { createMethodTable } from "../../src/api/bound-methods.ts";
import { useNativeHasher } from "../../src/runtime/native-hasher.ts";
import { describeMachine } from "../support/machine.ts";
import { median, quantile } from "../support/statistics.ts";
import { type LargeState, largeState } from "./large-state.ts";

const LONGEST_MS = 20;
/** Proofs before the measurement. */
const WARM_UP = 100;

interface Options {
  validators: number;
  proofs: number;
}

/** Prints the measurements. Returns false if a median exceeds the limit. */
export async function benchProofs({ validators, proofs }: Options): Promise<boolean> {
  useNativeHasher();
  console.log(`${describeMachine()}; a state of fulu with ${validators} validators, ${proofs} proofs of each kind\n`);
  const state = largeState(validators);
  const startOfHash = performance.now();
  state.hashTreeRoot();
  console.log(
    `Hashing the new state took ${(performance.now() - startOfHash).toFixed(0)} ms; the root is cached from then on.\n`,
  );

  const call = methodOn(state);
  const indices = Array.from({ length: WARM_UP + proofs }, (_, round) => (round * 7919) % validators);
  const field = (index: number) => ["validators", index, "withdrawal_credentials"];
  const kinds: Record<string, (index: number) => unknown> = {
    "library, bare walk down the tree": (index) => {
      const path = ["validators", index, "withdrawalCredentials"];
      return new Tree(state.node).getSingleProof(state.type.getPathInfo(path).gindex);
    },
    "getStateProof, one branch": (index) => call(["head", field(index)]),
    "getStateProof, up to the block": (index) => call(["head", field(index), "block"]),
    "getStateProof, multiproof of 16 validators": (index) =>
      call(["head", Array.from({ length: 16 }, (_, other) => field((index + other * 104_729) % validators)), "block"]),
  };

  const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]));
  for (const [round, index] of indices.entries()) {
    // In turn, so that noise affects all kinds.
    for (const [kind, prove] of Object.entries(kinds)) {
      const start = performance.now();
      await prove(index);
      if (round >= WARM_UP) times.get(kind)!.push(performance.now() - start);
    }
  }
  console.log("| | median ms | p99 ms |");
  console.log("| --- | ---: | ---: |");
  for (const [kind, ofKind] of times) {
    console.log(`| ${kind} | ${median(ofKind).toFixed(3)} | ${quantile(ofKind, 0.99).toFixed(3)} |`);
  }
  return [...times.values()].every((ofKind) => median(ofKind) < LONGEST_MS);
}

/** Returns getStateProof as servers call it, from parameters to response bytes, on a chain with only a head state. */
function methodOn(headState: LargeState): (params: unknown[]) => Promise<unknown> {
  const chain = {
    config: createBeaconConfig(
      {
        ...chainConfig,
        ALTAIR_FORK_EPOCH: 0,
        BELLATRIX_FORK_EPOCH: 0,
        CAPELLA_FORK_EPOCH: 0,
        DENEB_FORK_EPOCH: 0,
        ELECTRA_FORK_EPOCH: 0,
        FULU_FORK_EPOCH: 0,
      },
      ZERO_HASH,
    ),
    headState,
    forkChoice: { finalized: { epoch: 0, root: ZERO_HASH_HEX } },
    payloads: { isOptimistic: () => false },
    blocks: { childrenOf: async () => [] },
  };
  const { find } = createMethodTable({ context: { chain } } as unknown as Api);
  const method = find("getStateProof")!;
  return (params) => method.call(params);
}
