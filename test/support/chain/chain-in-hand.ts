import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../api/caller.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { openDevChain } from "./dev-chain.ts";

export const TIME_OF_DAY = 1_800_000_000;

/** A dev chain with a manual clock and a fixed wall clock, so that two of them behave identically. */
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
