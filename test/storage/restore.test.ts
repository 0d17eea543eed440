import { ListCompositeType } from "@chainsafe/ssz";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it, vi } from "vitest";
import { serializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import { blockHashOf } from "../../src/chain/engine/forkchoice-state.ts";
import { FinalityArchiver } from "../../src/chain/finality-archiver.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { advance, openDevChain, openQuietDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { openStoredChain, storedChain } from "../support/chain/stored-chain.ts";
import { collect } from "../support/db/collect.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { invalid, ScriptedEngine } from "../support/execution/scripted-engine.ts";

/** The last slot before the first finality; the next one finalizes epoch 2. */
const LAST_UNFINALIZED_SLOT = 4 * SLOTS_PER_EPOCH - 1;

/** A chain just before its first finality, with a second branch from genesis. */
async function aboutToFinalize() {
  const directory = tempDirectory();
  const opened = await openQuietDevChain(LAST_UNFINALIZED_SLOT, {}, directory);
  const { chain } = opened.devChain;
  const genesis = (await chain.blocks.genesis())!;
  const main = chain.head;
  const side = await new ByHand(opened.devChain).propose(LAST_UNFINALIZED_SLOT, genesis.root, 1);
  expect(chain.forkChoice.finalized.epoch).toBe(0);
  return { ...opened, main, side, genesis, stored: storedChain(directory, opened.devChain) };
}

it("a branch that finality excludes while the node is stopped does not prevent the start", async () => {
  const { stored, main, side, close } = await aboutToFinalize();
  await close();

  const again = await openStoredChain(stored, { slot: LAST_UNFINALIZED_SLOT + 3 });
  expect(again.chain.head.root).toBe(main.root);
  expect(again.chain.forkChoice.finalized.epoch).toBe(2);
  await again.chain.store();
  expect(again.chain.forkChoice.has(side.root)).toBe(false);
  expect(again.complaints).toEqual([]);
  await again.close();

  const later = await openStoredChain(stored, { slot: LAST_UNFINALIZED_SLOT + 100 });
  expect(later.chain.head.root).toBe(main.root);
  expect((await collect(later.db.hotBlocks.entries())).map(({ root }) => root)).not.toContain(side.root);
  expect(later.complaints).toEqual([]);
});

it("a crash between the commit of a block and the archiving of its finality loses nothing", async () => {
  const { stored, devChain, side, abandon } = await aboutToFinalize();
  const archive = vi.spyOn(FinalityArchiver.prototype, "archive").mockRejectedValue(new Error("The process ended."));
  await devChain.clock.advanceTo(LAST_UNFINALIZED_SLOT + 1);
  expect(archive).toHaveBeenCalled();
  expect(devChain.chain.forkChoice.finalized.epoch).toBe(2);
  const { head } = devChain.chain;
  await abandon();
  archive.mockRestore();

  const again = await openStoredChain(stored, { slot: LAST_UNFINALIZED_SLOT + 1 });
  expect(again.chain.head).toEqual(head);
  await again.chain.store();
  expect(await again.db.meta.getFinalized()).toMatchObject({ epoch: 2 });
  expect(again.chain.forkChoice.has(side.root)).toBe(false);
  expect(again.complaints).toEqual([]);
});

it("a clock that was set back removes nothing from the chain, even before finality", async () => {
  const directory = tempDirectory();
  const { devChain, close } = await openQuietDevChain(LAST_UNFINALIZED_SLOT + 3, {}, directory);
  const { head, forkChoice } = devChain.chain;
  const stored = storedChain(directory, devChain);
  await close();

  for (const slot of [LAST_UNFINALIZED_SLOT + 1, 3]) {
    const again = await openStoredChain(stored, { slot });
    expect(again.chain.head).toEqual(head);
    expect(again.chain.forkChoice.finalized).toEqual(forkChoice.finalized);
    expect(again.complaints).toEqual([]);
    await again.close();
  }
});

it("blocks without a stored payload status are dropped if the execution engine rejects them", async () => {
  const directory = tempDirectory();
  const { devChain, db, close } = await openQuietDevChain(12, { forks: [{ fork: "fulu", epoch: 0 }] }, directory);
  const stored = storedChain(directory, devChain);
  const { head, forkChoice } = devChain.chain;
  const ninth = blockHashOf(forkChoice.blocksAtSlot(9)[0])!;
  // As stored by versions without a status.
  const batch = db.batch();
  for (const { slot, root, parentRoot } of await collect(db.hotBlocks.entries())) {
    batch.hotBlocks.put(slot, root, parentRoot);
  }
  await batch.write();
  await close();

  const engine = new ScriptedEngine();
  engine.answer(ninth, invalid(null));
  const refused = await openStoredChain(stored, { slot: 12, engine });
  expect(refused.chain.head.slot).toBe(8);
  expect(refused.complaints).toHaveLength(1);
  expect(refused.complaints[0]).toMatch(/no longer fit.*blocks=4/);
  await refused.close();

  const silent = new ScriptedEngine();
  silent.otherwise = "error";
  const unjudged = await openStoredChain(stored, { slot: 12, engine: silent });
  expect(unjudged.chain.head).toMatchObject({ root: head.root, execution: { status: "optimistic" } });
  await unjudged.close();

  const good = await openStoredChain(stored, { slot: 12 });
  expect(good.chain.head).toEqual(head);
  expect(good.complaints).toEqual([]);
});

it("unreadable, invalid and disconnected stored blocks are skipped", async () => {
  const directory = tempDirectory();
  const { devChain, db, close } = await openQuietDevChain(LAST_UNFINALIZED_SLOT + 3, {}, directory);
  const { chain, config } = devChain;
  const byHand = new ByHand(devChain);
  const stored = storedChain(directory, devChain);
  const { head } = chain;
  const slot = LAST_UNFINALIZED_SLOT + 4;
  await devChain.clock.advanceTo(slot);
  const genesis = (await chain.blocks.genesis())!;
  const good = await byHand.produce(slot, head.root);
  const lost = byHand.sign(await byHand.produce(slot, genesis.root));
  const wrong = byHand.sign({ ...good, stateRoot: new Uint8Array(32) });
  const unreadable = byHand.sign(await byHand.produce(slot, head.root, 2));
  const batch = db.batch();
  for (const { root, signed } of [lost, wrong, unreadable]) {
    const bytes = serializeSignedBlock(config, signed);
    batch.blocks.put(root, root === unreadable.root ? bytes.subarray(0, -3) : bytes);
    batch.hotBlocks.put(slot, root, signed.message.parentRoot);
  }
  batch.hotBlocks.put(slot, `0x${"99".repeat(32)}`, head.root);
  await batch.write();
  await close();

  const again = await openStoredChain(stored, { slot });
  expect(again.chain.head.root).toBe(head.root);
  expect(again.complaints).toEqual([
    expect.stringMatching(
      `ERROR .*Stored blocks unreadable, continuing without them +blocks=2 slot=${slot} root=0x\\w+ reason="Block 0x\\w+ (cannot be decoded|is missing)`,
    ),
    expect.stringMatching(/no longer fit.*blocks=4/),
  ]);
  // Valid blocks are imported, and finality deletes the skipped ones.
  await again.chain.importBlock(byHand.sign(good).signed);
  expect(again.chain.head.slot).toBe(slot);
  await again.close();

  const later = await openDevChain({}, directory);
  await advance(later.devChain, 8 * SLOTS_PER_EPOCH);
  expect(later.devChain.chain.forkChoice.finalized.epoch).toBe(6);
  await later.devChain.chain.store();
  const [oldest] = await collect(later.db.hotBlocks.entries());
  expect(oldest!.slot).toBeGreaterThan(slot);
});

it("unreadable or invalid stored votes and operations are skipped, the others are kept", async () => {
  const directory = tempDirectory();
  const { devChain, db, close, node } = await openQuietDevChain(3, {}, directory);
  const { chain } = devChain;
  const byHand = new ByHand(devChain);
  const exit = new SignedOperations(devChain).exit(3);
  const stored = storedChain(directory, devChain);
  await devChain.clock.advanceTo(4);
  await byHand.attest(4, chain.head.root);
  chain.pools.operations.addVoluntaryExit(exit);
  await node.chain.close();
  const held = await db.operations.getAll();
  const attestations = new ListCompositeType(ssz.phase0.Attestation, 2 ** 32);
  const [good] = chain.pools.attestations.list({ slot: 4 }) as [never];
  const spoiled = (change: (attestation: ReturnType<typeof ssz.phase0.Attestation.clone>) => void) => {
    const attestation = ssz.phase0.Attestation.clone(good);
    change(attestation);
    return attestation;
  };
  await db.operations.replaceAll([
    ...held,
    { kind: "attestations/4", bytes: Uint8Array.of(1, 2, 3) },
    { kind: "contributions", bytes: Uint8Array.of(1) },
    { kind: "proposer-slashings", bytes: Uint8Array.of(7) },
    { kind: "of a later version", bytes: Uint8Array.of(7) },
    {
      kind: "attestations/4",
      bytes: attestations.serialize([
        spoiled(({ data }) => {
          data.index = 63;
        }),
        spoiled(({ data }) => {
          data.beaconBlockRoot = new Uint8Array(32).fill(9);
        }),
        spoiled(({ data }) => {
          data.target = { epoch: 0, root: data.beaconBlockRoot };
        }),
        spoiled(({ data }) => {
          data.target = { epoch: 2 ** 40, root: data.beaconBlockRoot };
        }),
        spoiled(({ data }) => {
          data.slot = 2 ** 40 * SLOTS_PER_EPOCH;
          data.target = { epoch: 2 ** 40, root: data.beaconBlockRoot };
        }),
      ]),
    },
  ]);
  await close();

  const again = await openStoredChain(stored, { slot: 5 });
  expect(again.complaints).toHaveLength(1);
  expect(again.complaints[0]).toMatch(/no longer fit.*attestations=5.*unreadable=4/);
  expect(again.chain.pools.operations.hasVoluntaryExit(3)).toBe(true);
  expect(again.chain.pools.attestations.list({ slot: 4 })).toHaveLength(
    chain.pools.attestations.list({ slot: 4 }).length,
  );
  expect(again.chain.forkChoice.weightOf(again.chain.head.root)).toBeGreaterThan(0);
});

it.each(["the pool", "a block"])(
  "validators that %s proves to be equivocating have no weight after a restart",
  async (place) => {
    const directory = tempDirectory();
    const first = await openDevChain(QUIET, directory);
    const { chain, clock } = first.devChain;
    const byHand = new ByHand(first.devChain);
    const genesis = chain.head.root;
    await clock.advanceTo(1);
    const branches = [await byHand.propose(1, genesis, 1), await byHand.propose(1, genesis, 2)];
    await clock.advanceTo(2);
    const leading = chain.head;
    const other = branches.find(({ root }) => root !== leading.root)!;
    const voters = await byHand.attest(1, leading.root);
    await clock.advanceTo(3);
    // Without this vote the tie goes to the larger root, as before the first vote.
    await byHand.attest(2, other.root);
    await byHand.attest(3, leading.root).then((more) => voters.push(...more));
    await clock.advanceTo(4);
    expect(chain.head.root).toBe(leading.root);

    const slashing = new SignedOperations(first.devChain).doubleVote(
      voters.sort((a, b) => a - b),
      0,
    );
    if (place === "the pool") await first.devChain.chain.processor.attesterSlashing(slashing);
    else {
      chain.pools.operations.addAttesterSlashing(slashing, first.devChain.config.getForkName(4));
      const { signed } = await byHand.propose(4, other.root);
      const votes = signed.message.body.attestations.map(({ data }) => toRootHex(data.beaconBlockRoot));
      expect(votes).toContain(leading.root);
      await clock.advanceTo(5);
    }
    const { head } = chain;
    expect(chain.forkChoice.isDescendant(other.root, head.root)).toBe(true);
    const stored = storedChain(directory, first.devChain);
    await (place === "the pool" ? first.close() : first.abandon());

    const again = await openStoredChain(stored, { slot: 6 });
    expect(again.chain.forkChoice.weightOf(leading.root)).toBe(0);
    expect(again.chain.head.root).toBe(head.root);
    expect(again.complaints).toEqual([]);
  },
);
