import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../api/caller.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { openDevChain } from "./dev-chain.ts";

export const TIME_OF_DAY = 1_800_000_000;

/** A dev chain that moves only when it is told to, at a time of day that stands still, so that two of them do the same. */
export async function openChainInHand(options: Partial<DevNodeOptions> = {}, directory = tempDirectory()) {
  const opened = await openDevChain(
    {
      forks: [{ fork: "fulu", epoch: 0 }],
      speed: 0,
      genesisTime: TIME_OF_DAY - 3600,
      timeOfDay: { nowSeconds: () => TIME_OF_DAY },
      ...options,
    },
    directory,
  );
  return { ...opened, caller: new Caller(opened.devChain.api) };
}
