import type { Client } from "../client/index.ts";
import type { Methods } from "../client/methods.ts";

type Params<Name extends keyof Methods> = NonNullable<Parameters<Methods[Name]>[0]>;
type Result<Name extends keyof Methods> = ReturnType<Methods[Name]>;

/** A builder with its balance and last bid. */
export type BuilderStatus = Awaited<Result<"dev_getBuilders">>[number];

/** Actions of one builder since gloas. */
export interface BuilderActions {
  /** Returns the builder at the head, with its last bid. */
  status(): Promise<BuilderStatus>;
  /**
   * Bids in the next slots; one slot by default, in every slot with `slots: "all"`. The value, in Gwei, is paid to the
   * proposer. The proposer takes the highest bid, if it is valid and pays more than the local payload.
   */
  bid(bid: Omit<Params<"dev_bid">, "builder">): Result<"dev_bid">;
  /** Withholds the payloads of bids that are taken in the next slots; one slot by default. */
  withhold(options?: Omit<Params<"dev_withholdBuilderPayloads">, "builder">): Result<"dev_withholdBuilderPayloads">;
  /** Makes a deposit for the builder; 32 ETH by default, in Gwei. */
  topUp(amount?: number | bigint): Result<"dev_topUpBuilder">;
  /** Requests an exit. */
  exit(): Result<"dev_exitBuilder">;
}

export function builderActions(client: Client, builder: number): BuilderActions {
  return {
    status: async () => {
      const builders = await client.dev_getBuilders();
      const found = builders[builder];
      if (found) return found;
      throw new RangeError(
        `There is no builder ${builder}. Number of builders in the registry of the head: ${builders.length}.`,
      );
    },
    bid: (bid) => client.dev_bid({ builder, ...bid }),
    withhold: (options = {}) => client.dev_withholdBuilderPayloads({ builder, ...options }),
    topUp: (amount) => client.dev_topUpBuilder({ builder, ...(amount !== undefined && { amount }) }),
    exit: () => client.dev_exitBuilder({ builder }),
  };
}
