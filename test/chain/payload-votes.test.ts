import { ForkName } from "@lodestar/params";
import { type gloas as gloasTypes, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { GloasChain } from "../support/chain/gloas-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

/** Lets a slot pass without a block, in which all but the proposer attest to the head. Returns the head's weights. */
async function voteInEmptySlot(gloas: GloasChain): Promise<{ empty: number; full: number }> {
  const { chain } = gloas;
  const slot = chain.clock.currentSlot + 1;
  const proposer = (await chain.states.afterBlock(chain.head.root, slot)).epochCtx.getBeaconProposer(slot);
  const online = new Set(Array.from({ length: chain.headState.validators.length }, (_, index) => index));
  online.delete(proposer);
  await gloas.run(1, { online });
  await gloas.nextSlot();
  return weightsOf(gloas);
}

async function weightsOf({ chain }: GloasChain): Promise<{ empty: number; full: number }> {
  await chain.refreshHead();
  const { root } = chain.head;
  return { empty: chain.forkChoice.weightOf(root, "empty"), full: chain.forkChoice.weightOf(root, "full") };
}

it("attestations of a later slot count for the head with its payload, also after a restart", async () => {
  const directory = tempDirectory();
  const gloas = await GloasChain.open({}, directory);
  await gloas.run(2);
  const { empty, full } = await voteInEmptySlot(gloas);
  expect(gloas.head).toEqual([2, "full"]);
  expect(empty).toBe(0);
  expect(full).toBeGreaterThan(0);
  await gloas.opened.close();
  const again = await GloasChain.open({}, directory);
  expect(again.head).toEqual([2, "full"]);
  expect(await weightsOf(again)).toEqual({ empty, full });
});

it("attestations of a later slot count for the head without its payload", async () => {
  const gloas = await GloasChain.open();
  await gloas.run(1);
  await gloas.run(1, { payload: "withhold" });
  const { empty, full } = await voteInEmptySlot(gloas);
  expect(gloas.head).toEqual([2, "empty"]);
  expect(empty).toBeGreaterThan(0);
  expect(full).toBe(0);
});

it("a restart within the slot keeps the votes on the payload, the boost and what arrived in time", async () => {
  const directory = tempDirectory();
  const absent = { payloadPresent: false, blobDataAvailable: false };
  const gloas = await GloasChain.open({}, directory);
  await gloas.run(2);
  await gloas.run(1, { payloadVote: () => absent });
  const factsOf = ({ chain: { forkChoice, head } }: GloasChain) => {
    const { root, slot } = head;
    return {
      root,
      boosted: forkChoice.proposerBoostRoot,
      votes: forkChoice.payloadVotesOf(root, "payloadPresent"),
      isLate: forkChoice.isLate(root),
      proposer: forkChoice.get(root)?.proposerIndex,
      buildsOnFull: forkChoice.shouldBuildOnFull({ root, payloadStatus: "full" }, slot + 1),
    };
  };
  const facts = factsOf(gloas);
  expect(facts).toMatchObject({ boosted: facts.root, isLate: false, buildsOnFull: false });
  expect(facts.votes).toContain(false);
  await gloas.opened.close();

  const again = await GloasChain.open({}, directory);
  expect(factsOf(again)).toEqual(facts);
  const signed = (await again.chain.blocks.signedByRoot(facts.root))!;
  expect(again.chain.payloadAttestationVote({ signed, root: facts.root })).toEqual({
    payloadPresent: true,
    blobDataAvailable: true,
  });
  await again.nextSlot();
  const { block } = await again.make();
  const { signedExecutionPayloadBid, payloadAttestations } = block.body as gloasTypes.BeaconBlockBody;
  const parent = again.chain.forkChoice.get(facts.root)!;
  expect(toRootHex(signedExecutionPayloadBid.message.parentBlockHash)).toBe(parent.bid?.parentBlockHash);
  expect(payloadAttestations.map(({ data }) => data)).toMatchObject([{ slot: 3, ...absent }]);
});

it("equivocating members of the committees still count for a head without votes after a restart", async () => {
  const directory = tempDirectory();
  const gloas = await GloasChain.open({}, directory);
  await gloas.run(2);
  await gloas.nextSlot();
  const { signed, root } = await gloas.make();
  await gloas.chain.importBlock(signed);
  await gloas.nextSlot();
  await gloas.chain.refreshHead();
  expect(gloas.chain.forkChoice.isHeadWeak(root)).toBe(true);
  const { epochCtx } = await gloas.chain.states.afterBlock(root);
  const slashing = ssz.electra.AttesterSlashing.defaultValue();
  const committee = Array.from(epochCtx.getBeaconCommittee(3, 0)).sort((a, b) => a - b);
  slashing.attestation1.attestingIndices = committee;
  slashing.attestation2.attestingIndices = committee;
  gloas.chain.pools.operations.addAttesterSlashing(slashing, ForkName.gloas);
  gloas.chain.forkChoice.onAttesterSlashing(committee);
  expect(gloas.chain.forkChoice.isHeadWeak(root)).toBe(false);
  await gloas.opened.close();
  const again = await GloasChain.open({}, directory);
  expect(again.chain.head.root).toBe(root);
  expect(again.chain.forkChoice.isHeadWeak(root)).toBe(false);
});
