import { BitArray } from "@chainsafe/ssz";
import {
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  getPayloadAttestationDataSigningRoot,
  stateTransition,
} from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { GloasChain } from "../../../test/support/chain/gloas-chain.ts";
import { processBlock } from "./advance.ts";

const otherRoot = new Uint8Array(32).fill(1);

/** Returns a block with payload attestations, and the state before it. */
async function attestedBlock({ chain }: GloasChain) {
  const signed = (await chain.blocks.signedByRoot(chain.head.root)) as gloas.SignedBeaconBlock;
  const { slot, parentRoot, body } = signed.message;
  expect(body.payloadAttestations.length).toBeGreaterThan(0);
  return { signed, preState: await chain.states.afterBlock(toRootHex(parentRoot), slot) };
}

it("gives the same state as the library's transition, which verifies the signatures", async () => {
  const gloas = await GloasChain.open();
  await gloas.run(3);
  const { signed, preState } = await attestedBlock(gloas);
  const expected = stateTransition(preState, signed, {
    verifyStateRoot: true,
    verifyProposer: true,
    verifySignatures: true,
    dontTransferCache: true,
    executionPayloadStatus: ExecutionPayloadStatus.valid,
    dataAvailabilityStatus: DataAvailabilityStatus.Available,
  });
  const actual = processBlock(preState, signed);
  expect(toRootHex(actual.hashTreeRoot())).toBe(toRootHex(expected.hashTreeRoot()));
  expect(actual.latestBlockHeader.toValue()).toEqual(expected.latestBlockHeader.toValue());
});

it.each<[string, string, (attestation: gloas.PayloadAttestation) => gloas.PayloadAttestation[]]>([
  [
    "to another block",
    "another block than the parent",
    ({ data, ...rest }) => [{ ...rest, data: { ...data, beaconBlockRoot: otherRoot } }],
  ],
  [
    "of an older slot",
    "of slot 1, expected 2",
    ({ data, ...rest }) => [{ ...rest, data: { ...data, slot: data.slot - 1 } }],
  ],
  [
    "without attesters",
    "no attesters",
    ({ aggregationBits: { bitLen }, ...rest }) => [{ ...rest, aggregationBits: BitArray.fromBitLen(bitLen) }],
  ],
  ["that are too many", "5 payload attestations, at most 4", (attestation) => Array(5).fill(attestation)],
])("rejects payload attestations %s", async (_, message, change) => {
  const gloas = await GloasChain.open();
  await gloas.run(3);
  const { signed, preState } = await attestedBlock(gloas);
  const changed = ssz.gloas.SignedBeaconBlock.clone(signed);
  changed.message.body.payloadAttestations = change(changed.message.body.payloadAttestations[0]!);
  expect(() => processBlock(preState, changed)).toThrow(message);
});

it("rejects a block whose payload attestation is signed by others than its attesters", async () => {
  const gloas = await GloasChain.open();
  await gloas.run(1);
  const { chain, signer } = gloas;
  const { root, slot } = chain.head;
  await gloas.nextSlot();
  const committee = chain.headState.epochCtx.getPayloadTimelinessCommittee(slot);
  const data = { beaconBlockRoot: fromHex(root), slot, payloadPresent: false, blobDataAvailable: false };
  const bits = BitArray.fromBoolArray(Array.from(committee, (member) => member === committee[0]));
  const other = committee.find((member) => member !== committee[0])!;
  const signature = signer.sign(other, getPayloadAttestationDataSigningRoot(chain.config, data));
  chain.pools.payloadAttestations.addAggregate({ data, bits, signature });
  const { signed } = await gloas.make();
  await expect(chain.importBlock(signed)).rejects.toMatchObject({ reason: "invalid-signature" });
});
