import type { Type } from "@chainsafe/ssz";
import type { ISignatureSet } from "@lodestar/state-transition";
import type { BeaconBlock, SignedBeaconBlock } from "@lodestar/types";
import { beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { ByHand, type HandMadeBlock } from "../../../test/support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { BlockHandler } from "../../network/gossip/block-handler.ts";
import type { ReceivedMessage } from "../../network/gossip/message-types.ts";
import type { BeaconChain } from "../chain.ts";
import { type ValidatedBlock, validateGossipBlock } from "../validation/block.ts";

let chain: BeaconChain;
let block: HandMadeBlock;
/** The same block with a different RANDAO reveal, which is invalid. */
let wrongInside: HandMadeBlock;
let verify: MockInstance<BeaconChain["validation"]["bls"]["verify"]>;

beforeEach(async () => {
  const options = { ...QUIET, genesisTime: 1_700_000_000, forks: [{ fork: "electra" as const, epoch: 0 }] };
  const { devChain: maker } = await openDevChain(options);
  const { devChain: taker } = await openDevChain(options);
  await maker.clock.advanceTo(1);
  await taker.clock.advanceTo(1);
  const byHand = new ByHand(maker);
  block = byHand.sign(await byHand.produce(1, maker.chain.head.root));
  const type = maker.config.getForkTypes(1).BeaconBlock as Type<BeaconBlock>;
  const changed = type.deserialize(type.serialize(block.signed.message));
  changed.body.randaoReveal.set(block.signed.signature);
  wrongInside = byHand.sign(changed);
  chain = taker.chain;
  verify = vi.spyOn(chain.validation.bls, "verify");
});

/** Returns how often the signature was verified. */
function countVerified({ signature }: SignedBeaconBlock): number {
  const sets = verify.mock.calls.flatMap(([verified]) => verified as ISignatureSet[]);
  return sets.filter((set) => "signature" in set && Buffer.compare(set.signature, signature) === 0).length;
}

describe("a block that passed gossip validation", () => {
  it("is imported from gossip with one verification of the proposer signature", async () => {
    const handler = new BlockHandler({
      chain,
      unknownBlocks: { onUnknownParent: () => {}, onUnknownBlock: () => {}, onUnknownPayload: () => {} },
      reporter: { penalize: () => {} },
      logger: createRecordingLogger(),
    });
    const message = { object: block.signed, peerId: "peer", report: () => {} };
    handler.handle(message as unknown as ReceivedMessage<"beacon_block">);
    await handler.close();
    expect(chain.head.root).toBe(block.root);
    expect(countVerified(block.signed)).toBe(1);
  });

  it("needs no other pre-state", async () => {
    const validated = await validateGossipBlock(chain.validation, block.signed);
    const afterBlock = vi.spyOn(chain.states, "afterBlock");
    await chain.importBlock(validated);
    expect(afterBlock.mock.calls.filter(([, slot]) => slot === 1)).toEqual([]);
  });

  it("is rejected for another invalid signature", async () => {
    const validated = await validateGossipBlock(chain.validation, wrongInside.signed);
    await expect(chain.importBlock(validated)).rejects.toMatchObject({ reason: "invalid-signature" });
  });

  it("is importing until it is stored", async () => {
    const importing = chain.importBlock(await validateGossipBlock(chain.validation, block.signed));
    expect(chain.isImporting(block.root)).toBe(true);
    await chain.untilImportEnds(block.root);
    expect(chain.isImporting(block.root)).toBe(false);
    expect(chain.head.root).toBe(block.root);
    await importing;
  });
});

describe("a block without gossip validation", () => {
  it("is imported with a verification of its proposer signature", async () => {
    await chain.importBlock(block.signed);
    expect(countVerified(block.signed)).toBe(1);
  });

  it("is rejected for its proposer signature, also after the genuine block passed gossip validation", async () => {
    await validateGossipBlock(chain.validation, block.signed);
    const forged = { ...block.signed, signature: wrongInside.signed.signature };
    const importing = chain.importBlock(forged);
    await expect(importing).rejects.toMatchObject({ reason: "invalid-signature" });
    await chain.untilImportEnds(block.root);
    expect(chain.forkChoice.has(block.root)).toBe(false);
  });

  it("is not taken for a validated one by its members", async () => {
    const { root, preState } = await validateGossipBlock(chain.validation, block.signed);
    const signed = { ...block.signed, signature: wrongInside.signed.signature };
    await expect(chain.importBlock({ signed, root, preState } as unknown as ValidatedBlock)).rejects.toThrow();
    expect(chain.forkChoice.has(root)).toBe(false);
  });
});
