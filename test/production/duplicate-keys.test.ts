import { expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openQuietDevChain } from "../support/chain/dev-chain.ts";

const HISTORY_SLOTS = 8;
const SLOT = HISTORY_SLOTS + 1;

it("a block and votes of a validator client that conflict with foreign ones are reported", async () => {
  const { devChain, complaints } = await openQuietDevChain(HISTORY_SLOTS, { forks: [{ fork: "electra", epoch: 0 }] });
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const caller = new Caller(devChain.api);
  const parent = chain.head.root;
  await clock.advanceTo(SLOT);
  const elsewhere = await byHand.propose(SLOT, parent);
  const { proposerIndex } = elsewhere.signed.message;
  const own = byHand.sign(await byHand.produce(SLOT, parent, 1));
  const publish = () =>
    devChain.api.beacon
      .publishBlockV2({ signedBlockContents: { signedBlock: own.signed, kzgProofs: [], blobs: [] } as never })
      .catch((error: Error) => error.message);

  expect(await publish()).toMatch(/has already proposed another block/);
  expect(complaints).toEqual([]);
  const prepared = [{ validator_index: String(proposerIndex), fee_recipient: `0x${"01".repeat(20)}` }];
  await caller.call("post_v1_validator_prepare_beacon_proposer", [prepared]);
  expect(await publish()).toMatch(/has already proposed another block/);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(new RegExp(`also used elsewhere.* validator=${proposerIndex} seen=block slot=${SLOT}`));
  expect(complaints[0]).toContain(`conflictsWith=${elsewhere.root}`);

  await byHand.attest(SLOT, elsewhere.root);
  await expect(byHand.attest(SLOT, parent)).rejects.toThrow("has already voted for epoch");
  expect(chain.validation.duplicates.counts.attestation).toBeGreaterThan(0);
  expect(complaints.at(-1)).toContain("seen=attestation");
});
