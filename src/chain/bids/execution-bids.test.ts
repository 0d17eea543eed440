import type { SecretKey } from "@chainsafe/blst";
import {
  type CachedBeaconStateGloas,
  createPubkeyCache,
  getExecutionPayloadBidSigningRoot,
} from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { expect, it, onTestFinished } from "vitest";
import { GloasChain } from "../../../test/support/chain/gloas-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import type { SharedPubkeys } from "../../bls/signers.ts";
import { createBlsVerifier } from "../../bls/verifier.ts";
import { builderKeys } from "../../dev/builder-keys.ts";
import { payloadBid } from "../production/self-build.ts";
import { ExecutionBids } from "./execution-bids.ts";

const ETHER = 1_000_000_000;
const COUNT = 3;

/** A slot to bid for, in a state in which the builders are active. */
async function openSlot() {
  const gloasChain = await GloasChain.open({ builders: { count: COUNT, balance: 10 * ETHER } });
  const { chain } = gloasChain;
  const slot = await gloasChain.nextSlot();
  // The keys of builders are not in the cache of validators.
  const bls = createBlsVerifier({ pubkeyCache: createPubkeyCache() as unknown as SharedPubkeys });
  onTestFinished(() => bls.close());
  const parentRoot = chain.head.root;
  const feeRecipient = new Uint8Array(20).fill(7);
  const unused = { randaoReveal: new Uint8Array(96), graffiti: new Uint8Array(32) };
  const offer = await chain.producer.buildToOffer({ slot, parentRoot, feeRecipient, ...unused });
  const operationState = offer.base.operationState.clone(true) as CachedBeaconStateGloas;
  operationState.finalizedCheckpoint = ssz.phase0.Checkpoint.toViewDU({ epoch: 2, root: new Uint8Array(32) });
  const expectation = { parentRoot, feeRecipient, base: { ...offer.base, operationState } };
  const bids = new ExecutionBids({ bls, logger: createRecordingLogger() });
  const bidOf = (builderIndex: number, value: number, changes: Partial<gloas.ExecutionPayloadBid> = {}) => ({
    ...payloadBid(offer.preState, { slot, parentRoot, builderIndex, value, feeRecipient }, offer.built),
    ...changes,
  });
  const keys = builderKeys(COUNT);
  const sign = (message: gloas.ExecutionPayloadBid, secretKey: SecretKey = keys.secretKey(message.builderIndex)!) => ({
    message,
    signature: secretKey.sign(getExecutionPayloadBidSigningRoot(chain.config, message)).toBytes(),
  });
  const submit = (signed: gloas.SignedExecutionPayloadBid) => bids.submit(signed, expectation);
  const choose = (value: bigint) => bids.choose(Promise.resolve({ ...offer.built, value }), expectation);
  return { bids, keys, bidOf, sign, submit, choose, expectation, slot };
}

it("takes the highest bid that pays more than the local payload", async () => {
  const { bids, bidOf, sign, submit, choose, expectation, slot } = await openSlot();
  const [low, high, zero] = [sign(bidOf(0, 1)), sign(bidOf(1, 5)), sign(bidOf(2, 0))];
  for (const bid of [zero, high, low, high]) expect(await submit(bid)).toBeUndefined();
  expect(await choose(0n)).toBe(high);
  expect(await choose(4_999_999_999n)).toBe(high);
  expect(await choose(5_000_000_000n)).toMatchObject({ value: 5_000_000_000n });
  const failed = Promise.reject(new Error("no payload"));
  expect(await bids.choose(failed, expectation)).toBe(high);
  const toOther = { ...expectation, feeRecipient: new Uint8Array(20).fill(8) };
  await expect(bids.choose(Promise.reject(new Error("no payload")), toOther)).rejects.toThrow("no payload");
  bids.onSlot(slot + 1);
  expect(await choose(0n)).toMatchObject({ value: 0n });
});

it("ignores the second bid of a builder for a slot, also if it is higher or arrives at the same time", async () => {
  const { bidOf, sign, submit, choose, slot } = await openSlot();
  const [first, second] = [sign(bidOf(0, 5)), sign(bidOf(0, 6))];
  const message = `Builder 0 has already made another bid for slot ${slot}, of 5 Gwei. Only its first one counts.`;
  expect(await Promise.all([submit(first), submit(second)])).toEqual([undefined, message]);
  expect(await submit(second)).toBe(message);
  expect(await choose(0n)).toBe(first);
});

it("refuses bids that the block could not include", async () => {
  const { keys, bidOf, sign, submit } = await openSlot();
  const refused = async (changes: Partial<gloas.ExecutionPayloadBid>, reason: string) =>
    expect(await submit(sign(bidOf(0, 1, changes)))).toContain(reason);
  const other = new Uint8Array(32).fill(9);
  await refused({ slot: 9 }, "The slot of the bid is 9, expected 1.");
  await refused({ parentBlockRoot: other }, "The parent block root of the bid is 0x0909");
  await refused({ parentBlockHash: other }, "The parent block hash of the bid is 0x0909");
  await refused({ prevRandao: other }, "The prev_randao of the bid is 0x0909");
  await refused({ feeRecipient: new Uint8Array(20) }, "The bid does not pay the proposer's fee recipient.");
  await refused({ executionPayment: 1n }, "The bid has an execution payment");
  await refused({ gasLimit: 1n }, "The gas limit 1 of the bid is too far from its parent's");
  await refused({ value: 9 * ETHER + 1 }, "The balance of builder 0 does not cover the bid of 9000000001 Gwei.");
  await refused({ blobKzgCommitments: Array.from({ length: 99 }, () => new Uint8Array(48)) }, "The bid has 99 blobs");
  const unknown = bidOf(COUNT, 1);
  expect(await submit(sign(unknown, keys.secretKey(0)!))).toBe(`There is no builder ${COUNT}.`);
  expect(await submit(sign(bidOf(0, 1), keys.secretKey(1)!))).toBe("The bid is not signed by builder 0.");
  const undecodable = { message: bidOf(0, 1), signature: new Uint8Array(96).fill(255) };
  expect(await submit(undecodable)).toBe("The bid is not signed by builder 0.");
  expect(await submit(sign(bidOf(0, 9 * ETHER)))).toBeUndefined();
});
