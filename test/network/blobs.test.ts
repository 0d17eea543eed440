import { createHash } from "node:crypto";
import { DOMAIN_BEACON_PROPOSER } from "@lodestar/params";
import { type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type DataSidecar, type HeaderSidecar, isColumn, serializeSidecar } from "../../src/data/sidecar.ts";
import { metadataCodec } from "../../src/network/reqresp/message-codecs.ts";
import { encodeChunk } from "../../src/network/reqresp/response-chunk.ts";
import { type BlockWithSidecars, ByHand } from "../support/chain/by-hand.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";
import type { Adversary } from "./adversary/support/adversary.ts";
import { eventually, Scenario, statusOf } from "./adversary/support/scenario.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.each(variants({ fast: ["fulu"], full: ["electra"] } as const))("on %s", (fork) => {
  let scenario: Scenario;
  let byHand: ByHand;
  beforeAll(async () => {
    scenario = await Scenario.begin({
      forks: [{ fork, epoch: 0 }],
      honest: { supernode: true, blobs: { min: 2, max: 2 } },
      historySlots: 1,
    });
    byHand = new ByHand(scenario.honest);
  });
  afterAll(() => scenario.end());

  /** A block of an otherwise empty slot. The honest node has it with its data, unpublished. */
  async function propose(): Promise<BlockWithSidecars> {
    return byHand.proposeWithBlobs(await scenario.skipSlot(), scenario.honest.chain.head.root);
  }

  /** Another unpublished block of the same proposer. */
  function rivalOf({ signed: { message } }: BlockWithSidecars): Promise<BlockWithSidecars> {
    return byHand.produceWithBlobs(message.slot, toRootHex(message.parentRoot), 1);
  }

  /** Sidecars that the victim requires for import. */
  function needed({ signed, sidecars }: BlockWithSidecars): HeaderSidecar[] {
    const required = scenario.victim.chain.data.required(signed);
    return sidecars.filter(({ index }) => required.includes(index));
  }

  const publishBlock = (adversary: Adversary, { signed }: BlockWithSidecars) =>
    adversary.publishBlock(scenario.network.config, signed);
  const publish = (adversary: Adversary, sidecars: readonly HeaderSidecar[]) =>
    adversary.publishSidecars(scenario.network.config, sidecars);
  const pooled = (root: RootHex) => scenario.victim.chain.data.pool.all(root).map(({ index }) => index);
  const untilAwaited = ({ root }: BlockWithSidecars) =>
    eventually(() => expect(scenario.victim.chain.isWaitingForData(root)).toBe(true));
  const isImported = ({ root }: BlockWithSidecars) => scenario.victim.chain.forkChoice.has(root);
  const untilImported = (block: BlockWithSidecars) => eventually(() => expect(isImported(block)).toBe(true));

  /** Prevents the honest node from serving data until released. */
  function withholdData(): () => void {
    const withheld = vi.spyOn(scenario.honest.chain.data, "sidecarBytes").mockResolvedValue(null);
    return () => withheld.mockRestore();
  }

  const signedBy = (sidecar: HeaderSidecar, proposerIndex: number): HeaderSidecar => {
    const message = { ...sidecar.signedBlockHeader.message, proposerIndex };
    const { signer } = byHand;
    const signingRoot = signer.signingRoot(ssz.phase0.BeaconBlockHeader, message, DOMAIN_BEACON_PROPOSER, message.slot);
    const signedBlockHeader = { message, signature: signer.sign(proposerIndex, signingRoot) };
    return { ...sidecar, signedBlockHeader };
  };

  it("data may arrive before its block, after it, much later, and twice", async () => {
    const adversary = await scenario.adversary();
    const early = await propose();
    await publish(adversary, needed(early));
    await eventually(() => expect(pooled(early.root)).toEqual(needed(early).map(({ index }) => index)));
    await publishBlock(adversary, early);
    await untilImported(early);

    const giveAgain = withholdData();
    const late = await propose();
    const [first, ...others] = needed(late) as [HeaderSidecar, HeaderSidecar];
    await publishBlock(adversary, late);
    await publish(adversary, [first]);
    await untilAwaited(late);
    // The node requests it from peers that lack it.
    await scenario.skipSlot();
    await scenario.skipSlot();
    await eventually(() => expect(pooled(late.root)).toEqual([first.index]));
    expect(isImported(late)).toBe(false);
    // Conflicting sidecars do not replace the first one and are not verified.
    await publish(adversary, [first, withOtherData(first, others[0]!), ...others, ...others]);
    await untilImported(late);
    expect(scenario.invalidMessages(adversary)).toBe(0);
    expect(scenario.score(adversary)).toBe(0);
    giveAgain();
    await expectServed(early);
    await expectServed(late);
    await scenario.expectFollowing();
  });

  it("invalid sidecars penalize their sender, and are fetched from other peers", async () => {
    const block = await propose();
    const rival = await rivalOf(block);
    const [sidecar, other] = needed(block) as [HeaderSidecar, HeaderSidecar];
    const { proposerIndex } = block.signed.message;
    const forgeries: [reason: string, forged: HeaderSidecar][] = [
      ["bad-kzg-proof", withOtherData(sidecar, other)],
      ["bad-inclusion-proof", { ...needed(rival)[0]!, signedBlockHeader: sidecar.signedBlockHeader } as HeaderSidecar],
      ["wrong-proposer", signedBy(sidecar, (proposerIndex + 1) % 16)],
      ["bad-signature", withoutSignature(sidecar)],
    ];
    for (const [reason, forged] of forgeries) {
      const adversary = await scenario.adversary();
      await publish(adversary, [forged]);
      await eventually(() => expect(scenario.refusals(adversary)).toEqual(new Set([reason])));
      // Penalties decay with time.
      expect(scenario.invalidMessages(adversary)).toBeGreaterThan(0);
      await adversary.close();
    }
    expect(pooled(block.root)).toEqual([]);

    const adversary = await scenario.adversary();
    await publishBlock(adversary, block);
    await publish(adversary, [other]);
    await untilAwaited(block);
    await eventually(() => expect(pooled(block.root)).toEqual([other.index]));
    await scenario.skipSlot();
    await untilImported(block);
    await expectServed(block);
    await adversary.close();
    await scenario.expectFollowing();
  });

  if (isFullTier) {
    it("unrequested responses penalize their sender, and other peers are used", async () => {
      const giveAgain = withholdData();
      const block = await propose();
      const rival = await rivalOf(block);
      const asked = needed(block);
      const [sidecar, other] = asked as [HeaderSidecar, HeaderSidecar];
      const lies = [
        asked.with(0, withOtherData(sidecar, other)),
        asked.with(0, withoutSignature(sidecar)),
        needed(rival),
        [...asked, sidecar],
      ];
      const liars = await Promise.all(lies.map((lie) => openLiar(lie)));
      await publishBlock(liars[0]!, block);
      await untilAwaited(block);
      await scenario.skipSlot();
      await eventually(() => expect(liars.filter((liar) => scenario.score(liar) < 0)).toHaveLength(liars.length));
      expect(pooled(block.root)).toEqual([]);
      expect(isImported(block)).toBe(false);

      giveAgain();
      await scenario.skipSlot();
      await untilImported(block);
      await expectServed(block);
      for (const liar of liars) await liar.close();
      expect(scenario.victim.networking.network.peers.scores.score(scenario.honest.peerId)).toBe(0);
      await scenario.expectFollowing();
    });
  }

  /** A peer that claims all columns and always serves the same sidecars. */
  async function openLiar(sidecars: readonly HeaderSidecar[]): Promise<Adversary> {
    const liar = await scenario.stranger();
    const chunks = sidecars.map((each) => encodeChunk(serializeSidecar(each), statusOf(scenario.honest).forkDigest));
    for (const protocol of ["blob_sidecars_by_root", "data_column_sidecars_by_root"] as const) {
      liar.behaviours.set(protocol, async (stream) => {
        for (const chunk of chunks) if (!stream.send(chunk)) await stream.onDrain();
        await stream.close();
      });
    }
    liar.behaviours.set("metadata", async (stream, { version }) => {
      const metadata = { ...ssz.fulu.Metadata.defaultValue(), custodyGroupCount: 128 };
      stream.send(encodeChunk(metadataCodec(version).encode(metadata)));
      await stream.close();
    });
    await scenario.join(liar);
    return liar;
  }

  /** The victim has stored the required sidecars unchanged. */
  async function expectServed(block: BlockWithSidecars): Promise<void> {
    const { slot } = block.signed.message;
    const stored = await scenario.victim.chain.data.sidecars({ slot, root: block.root });
    expect(stored.map(digestOf)).toEqual(needed(block).map(digestOf));
  }
});

/** The sidecar with the blob or cells of another. */
function withOtherData(sidecar: HeaderSidecar, other: HeaderSidecar): HeaderSidecar {
  if (isColumn(sidecar) && isColumn(other)) return { ...sidecar, column: other.column };
  if (!isColumn(sidecar) && !isColumn(other)) return { ...sidecar, blob: other.blob };
  throw new Error("A block has either blob sidecars or columns.");
}

/** The sidecar with an unsigned header. */
function withoutSignature(sidecar: HeaderSidecar): HeaderSidecar {
  const { message } = sidecar.signedBlockHeader;
  return { ...sidecar, signedBlockHeader: { message, signature: new Uint8Array(96).fill(0xc0, 0, 1) } };
}

const digestOf = (sidecar: DataSidecar) => createHash("sha256").update(serializeSidecar(sidecar)).digest("hex");
