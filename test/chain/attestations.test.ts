import { type altair, type phase0, type SingleAttestation, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { validateAttestations } from "../../src/chain/validation/attestation.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { summarize } from "../support/chain/validation/validation-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { variants } from "../support/suite/tier.ts";

it.each(variants({ fast: ["electra"], full: ["altair"] } as const))(
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

it("a second attestation of a validator is rejected within the clock disparity after its epoch has expired", async () => {
  const { devChain } = await openDevChain({ ...QUIET, forks: [{ fork: "electra", epoch: 0 }] });
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const genesis = chain.head.root;
  await clock.advanceTo(7);
  const { root } = await byHand.propose(7, genesis);
  const first = (await byHand.attestationsFor(7, root))[0]!;
  // The library caches the root of hashed data, so the changed data must be a copy.
  const data = ssz.phase0.AttestationData.clone(first.attestation.data);
  data.beaconBlockRoot = fromHex(genesis);
  const other = { ...first.attestation, data, signature: byHand.signAttestation(first.validator, data) };
  const take = async (attestation: phase0.Attestation | SingleAttestation) =>
    summarize(await validateAttestations(chain.validation, [attestation as SingleAttestation]));

  expect(await take(first.attestation)).toEqual(["ok"]);
  await clock.advanceTo(16);
  expect(await take(other)).toEqual(["ignore conflicting-vote"]);
  await clock.advanceTo(17);
  expect(chain.pools.seen.attesters.has(0, first.validator)).toBe(false);
});
