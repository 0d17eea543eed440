import { toRootHex } from "@lodestar/utils";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { HeadTracker } from "../head/head-tracker.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { Pools } from "../pools/pools.ts";
import { Shufflings } from "../shuffling/shufflings.ts";
import { RegenerationQueue } from "../states/regeneration-queue.ts";
import type { StateStore } from "../states/state-store.ts";
import type { ValidationContext } from "./context.ts";
import { VerifiedHeaders } from "./verified-headers.ts";

interface ValidatingChain
  extends Pick<ValidationContext, "config" | "clock" | "blocks" | "bls" | "kzg" | "invalidBlocks" | "duplicates"> {
  forkChoice: ForkChoice;
  states: StateStore;
  payloadStore: Pick<PayloadStore, "payloadOf">;
  tracker: Pick<HeadTracker, "headState">;
  pools: Pick<Pools, "seen" | "operations">;
  /** Resolves when no change to the chain is pending. Changes take priority over regenerations. */
  idle(): Promise<void>;
}

/** Creates the validation context of a chain. */
export function validationContextOf(chain: ValidatingChain): ValidationContext {
  const { config, clock, forkChoice, blocks, payloadStore, states, bls, kzg, invalidBlocks, tracker } = chain;
  const { pools, duplicates } = chain;
  const regenerations = new RegenerationQueue(() => chain.idle());
  const shufflings = new Shufflings({ forkChoice, states, regenerations });
  return {
    config,
    clock,
    forkChoice,
    blocks,
    bls,
    kzg,
    invalidBlocks,
    seen: pools.seen,
    signedHeaders: new VerifiedHeaders(),
    headersOnDuty: new VerifiedHeaders(),
    operations: pools.operations,
    duplicates,
    states: {
      get head() {
        return tracker.headState;
      },
      shuffling: (blockRoot, epoch) => shufflings.of(blockRoot, epoch),
      preState: (parentRoot, slot) => {
        const make = () => states.afterBlock(parentRoot, slot);
        // The chain's next block need not wait in the queue.
        return states.isNear(parentRoot, slot) ? make() : regenerations.run("block", make);
      },
      ofBlock: async (root) =>
        states.cached(root) ?? regenerations.run("block", () => states.afterBlock(root, undefined, { keep: false })),
    },
    async payloadGasLimit(blockHash, parent) {
      const seen = pools.seen.payloads.gasLimitOf(blockHash);
      if (seen !== undefined) return seen;
      const payloadStatus = parent.bid === undefined || parent.bid.blockHash === blockHash ? "full" : "empty";
      const block = forkChoice.payloadBlock({ root: parent.root, payloadStatus });
      const signed = block && (await blocks.signedByRoot(block.root));
      const payload = signed && (await payloadStore.payloadOf(signed, block.root))?.payload;
      return payload && toRootHex(payload.blockHash) === blockHash ? BigInt(payload.gasLimit) : undefined;
    },
  };
}
