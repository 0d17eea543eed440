import { expect, it } from "vitest";
import { advance, openDevChain } from "../../test/support/chain/dev-chain.ts";
import { DEFAULT_CHAIN_SETTINGS } from "./settings.ts";

it("reads every setting while the chain makes blocks and merges", async () => {
  const read = new Set<string | symbol>();
  const settings = new Proxy(DEFAULT_CHAIN_SETTINGS, {
    get(target, key) {
      read.add(key);
      return Reflect.get(target, key);
    },
    ownKeys: () => expect.unreachable("The settings are passed on as a whole, so that each part says what it reads."),
  });
  const { devChain } = await openDevChain({ chain: settings, forks: [{ fork: "bellatrix", epoch: 1 }], speed: 0 });
  await advance(devChain, 10);
  expect([...read]).toEqual(expect.arrayContaining(Object.keys(DEFAULT_CHAIN_SETTINGS)));
});
