import type { altair } from "@lodestar/types";
import { expect, test } from "vitest";
import { openDevChain } from "./support/dev-chain.ts";
import { tempDirectory } from "./support/temp-directory.ts";

test.each(["altair", "electra"] as const)(
  "attestations of the last slot survive a restart and reach the next block in %s",
  async (fork) => {
    const directory = tempDirectory();
    const options = { forks: [{ fork, epoch: 0 }] };
    const { devChain, close } = await openDevChain(options, directory);
    await devChain.clock.advanceTo(5);
    const attestations = devChain.chain.pools.attestations.list({ slot: 5 });
    expect(attestations.length).toBeGreaterThan(0);
    await close();

    const { devChain: resumed, complaints } = await openDevChain(options, directory);
    expect(resumed.chain.pools.attestations.list({ slot: 5 })).toEqual(attestations);
    await resumed.clock.advanceTo(6);

    const block = await resumed.chain.blocks.canonicalAtSlot(6);
    const body = block!.signed.message.body as altair.BeaconBlockBody;
    expect(body.attestations.map(({ data }) => data.slot)).toContain(5);
    expect(body.syncAggregate.syncCommitteeBits.getTrueBitIndexes().length).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  },
);
