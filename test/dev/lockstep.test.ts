import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { SLOTS_PER_EPOCH, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { type altair, type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { serializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { DEV_FORKS, type DevFork } from "../../src/dev/forks.ts";
import type { DutyPlan } from "../../src/dev/validators/duty-plan.ts";
import { slashingProtectionStore } from "../../src/dev/validators/slashing-protection.ts";
import { createDevValidators } from "../../src/dev/validators/validators.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { type OpenedDevChain, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { isFullTier } from "../support/suite/tier.ts";

const GENESIS_TIME = 1_700_000_000;
const VALIDATORS = 16;
const FULU = [{ fork: "fulu" as const, epoch: 0 }];

/** The forks, each for this many epochs. */
const forksEvery = (epochs: number, forks: readonly DevFork[] = DEV_FORKS) =>
  forks.flatMap((fork, index) => (fork === "phase0" ? [] : [{ fork, epoch: index * epochs }]));

async function blocksOf({ blocks }: BeaconChain, slots: number): Promise<SignedBeaconBlock[]> {
  const found = await Promise.all(Array.from({ length: slots }, (_, index) => blocks.canonicalAtSlot(index + 1)));
  return found.map((block, index) => {
    if (!block) throw new Error(`Slot ${index + 1} has no block.`);
    return block.signed;
  });
}

const bitsIn = (attestations: SignedBeaconBlock["message"]["body"]["attestations"]) =>
  attestations.reduce((sum, { aggregationBits }) => sum + aggregationBits.getTrueBitIndexes().length, 0);

describe("a dev chain in lockstep", () => {
  it("creates a chain of all forks that passes full verification, with every vote", async () => {
    const epochsPerFork = isFullTier ? 2 : 1;
    const epochs = epochsPerFork * DEV_FORKS.length;
    const slots = epochs * SLOTS_PER_EPOCH;
    const options = { validators: VALIDATORS, genesisTime: GENESIS_TIME, forks: forksEvery(epochsPerFork) };
    const { devChain, complaints } = await openDevChain({ ...options, speed: 0 });
    await devChain.control.time.advance({ slots });
    expect(devChain.chain.forkChoice.finalized.epoch).toBe(epochs - 2);
    const made = await blocksOf(devChain.chain, slots);
    const beginOf = (fork: DevFork) => devChain.config.forks[fork].epoch * SLOTS_PER_EPOCH;
    for (const { message } of made.slice(1)) {
      // Electra blocks include no pre-electra attestations.
      const voters = message.slot === beginOf("electra") ? 0 : VALIDATORS / SLOTS_PER_EPOCH;
      expect(bitsIn(message.body.attestations)).toBe(voters);
      // In the slot before Altair there was no sync committee.
      if (message.slot <= beginOf("altair")) continue;
      const { syncCommitteeBits } = (message.body as altair.BeaconBlockBody).syncAggregate;
      expect(syncCommitteeBits.getTrueBitIndexes().length).toBe(SYNC_COMMITTEE_SIZE);
    }

    const follower = await openDevChain({ ...options, ...QUIET });
    await follower.devChain.clock.advanceTo(slots);
    const earlier = made.slice(0, beginOf("gloas") - 1);
    const { chain } = follower.devChain;
    expect(await chain.importSegment(earlier)).toEqual({ imported: earlier.length, known: 0 });
    for (const block of made.slice(earlier.length)) {
      const { root } = await chain.importBlock(block);
      expect(await chain.importPayload((await devChain.chain.payloadStore.get(root))!)).toEqual({ root, known: false });
    }
    expect(follower.devChain.chain.head.root).toBe(devChain.chain.head.root);
    expect([...complaints, ...follower.complaints]).toEqual([]);
  });

  it("creates the same blocks as validators that use the API, as they do while there are vote listeners", async () => {
    const played = isFullTier ? DEV_FORKS : DEV_FORKS.slice(-3);
    const slots = played.length * SLOTS_PER_EPOCH;
    const options = { validators: VALIDATORS, genesisTime: GENESIS_TIME, forks: forksEvery(1, played), speed: 0 };
    const [shortly, wholly] = [await openDevChain(options), await openDevChain(options)];
    let votes = 0;
    wholly.devChain.chain.events.on("attestation", () => votes++);
    for (const { devChain, complaints } of [shortly, wholly]) {
      await devChain.control.time.advance({ slots });
      expect(complaints).toEqual([]);
    }
    const bytesOf = async ({ devChain: { config, chain } }: OpenedDevChain) =>
      (await blocksOf(chain, slots)).map((signed) => Buffer.from(serializeSignedBlock(config, signed)).toString("hex"));
    expect(await bytesOf(shortly)).toEqual(await bytesOf(wholly));
    // All single attestations, and the aggregates.
    expect(votes).toBeGreaterThan((slots * VALIDATORS) / SLOTS_PER_EPOCH);
  });

  it("has stored its signing records when it is killed", async () => {
    const directory = tempDirectory();
    const options = { validators: VALIDATORS, forks: FULU, speed: 0 };
    const { devChain, abandon } = await openDevChain(options, directory);
    const slots = 3;
    await devChain.control.time.advance({ slots });
    const proposers = (await blocksOf(devChain.chain, slots)).map(({ message }) => message.proposerIndex);
    await abandon();

    const { db } = await openDevChain({ ...options, ...QUIET }, directory);
    const signed = await slashingProtectionStore(db).load();
    for (const [index, proposer] of proposers.entries()) {
      expect(signed.find((each) => each.index === proposer)?.proposed).toBeGreaterThan(index);
    }
    expect(signed.filter(({ target }) => target === 0).length).toBe((slots * VALIDATORS) / SLOTS_PER_EPOCH);
  });

  it("serves signed votes to clients, and recognizes them when they are resubmitted", async () => {
    const { devChain } = await openDevChain({ validators: VALIDATORS, forks: FULU, speed: 0 });
    const { chain, api } = devChain;
    const slot = SLOTS_PER_EPOCH - 1;
    await devChain.control.time.advance({ slots: slot });
    const singles = await new ByHand(devChain).attestationsFor(slot, chain.head.root);
    const [vote] = chain.pools.attestations.list({ slot });
    const signatures = singles.map(({ attestation }) => attestation.signature);
    expect(vote?.signature).toEqual(aggregateSerializedSignatures(signatures).toBytes());
    const signedAttestations = singles.map(({ attestation }) => attestation);
    await api.beacon.submitPoolAttestationsV2({ signedAttestations });
    expect(chain.pools.attestations.list({ slot })).toEqual([vote]);
    const seen = Array.from({ length: VALIDATORS }, (_, index) => chain.pools.seen.attesters.has(0, index));
    expect(seen.filter(Boolean).length).toBe((slot * VALIDATORS) / SLOTS_PER_EPOCH);
  });
});

describe("a plan of the duties in lockstep", () => {
  async function openPlanned() {
    const opened = await openDevChain({ ...QUIET, validators: VALIDATORS, forks: FULU });
    const { chain, api, clock, config, keys } = opened.devChain;
    const { logger } = createLogger({
      format: "text",
      spec: "WARN",
      destination: { write: (line) => opened.complaints.push(line) },
    });
    let plan: DutyPlan = {};
    const fastPath = { chain, isAllowed: () => true };
    const validators = createDevValidators({ api, clock, config, keys, logger, fastPath, plan: () => plan });
    const act = async (slot: Slot, chosen: DutyPlan = {}) => {
      plan = chosen;
      await clock.advanceTo(slot);
      await validators.onSlot(slot, "lockstep");
    };
    return { ...opened, chain, act };
  }

  it("skips offline proposers and attesters", async () => {
    const { chain, act, complaints } = await openPlanned();
    await act(1);
    const state = await chain.states.afterBlock(chain.head.root, 2);
    const committees = state.epochCtx.getShufflingAtSlot(2).committees[2]!;
    const [member] = committees[0]!;
    const everybody = Array.from({ length: VALIDATORS }, (_, index) => index);
    const online = new Set(
      everybody.filter((index) => index !== member && index !== state.epochCtx.getBeaconProposer(2)),
    );
    await act(2, { online });
    expect(chain.head.slot).toBe(1);
    const votes = chain.pools.attestations.list({ slot: 2 });
    const expected = committees.flatMap((committee) => [...committee]).filter((index) => online.has(index));
    expect(bitsIn(votes)).toBe(expected.length);
    expect(chain.pools.seen.attesters.has(0, member!)).toBe(false);
    await act(3, { online: new Set() });
    expect(chain.pools.attestations.list({ slot: 3 })).toEqual([]);
    await act(4);
    expect(chain.head.slot).toBe(4);
    expect(complaints).toEqual([]);
  });

  it("builds on the given parent and votes for the given block", async () => {
    const { chain, act, complaints } = await openPlanned();
    await act(1);
    const fork = chain.head.root;
    await act(2);
    const head = chain.head.root;
    await act(3, { parentRoot: fork, splitVote: { root: head, includes: () => true } });
    const [side] = chain.forkChoice.blocksAtSlot(3);
    expect(side?.parentRoot).toBe(fork);
    const votedRoots = chain.pools.attestations.list({ slot: 3 }).map(({ data }) => toRootHex(data.beaconBlockRoot));
    expect(new Set(votedRoots)).toEqual(new Set<RootHex>([head]));
    // By default validators vote for the block of the slot.
    await act(4, { parentRoot: side!.root });
    const [next] = chain.forkChoice.blocksAtSlot(4);
    expect(next?.parentRoot).toBe(side!.root);
    const [vote] = chain.pools.attestations.list({ slot: 4 });
    expect(toRootHex(vote!.data.beaconBlockRoot)).toBe(next!.root);
    expect(complaints).toEqual([]);
  });
});

describe("a block that the node produced for a client", () => {
  it("is verified although its state is known", async () => {
    const { devChain } = await openDevChain({ ...QUIET, validators: VALIDATORS, forks: FULU });
    const { chain, clock } = devChain;
    const byHand = new ByHand(devChain);
    await clock.advanceTo(1);
    const block = await byHand.produce(1, chain.head.root);
    const { signed, root } = byHand.sign(block);
    expect(chain.producer.postState(root)?.hashTreeRoot()).toEqual(block.stateRoot);

    const other = { ...signed, signature: byHand.sign(block, (block.proposerIndex + 1) % VALIDATORS).signed.signature };
    await expect(chain.importBlock(other)).rejects.toMatchObject({ reason: "invalid-signature" });
    const changed = ssz.fulu.BeaconBlock.clone(block as never);
    changed.body.graffiti = new Uint8Array(32).fill(1);
    await expect(chain.importBlock(byHand.sign(changed).signed)).rejects.toMatchObject({ reason: "wrong-state-root" });
    const unrevealed = ssz.fulu.BeaconBlock.clone(block as never);
    unrevealed.body.randaoReveal = byHand.signer.randaoReveal(block.proposerIndex, SLOTS_PER_EPOCH);
    const resigned = byHand.sign(await byHand.withStateRoot(unrevealed)).signed;
    await expect(chain.importBlock(resigned)).rejects.toMatchObject({ reason: "invalid-signature" });

    expect(await chain.importBlock(signed)).toEqual({ root, known: false });
    expect(chain.headState).toBe(chain.producer.postState(root));
  });
});
