import { aggregateSerializedSignatures, SecretKey } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import { PTC_SIZE } from "@lodestar/params";
import type { gloas } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { PayloadAttestationPool } from "./payload-attestation-pool.ts";

const beaconBlockRoot = new Uint8Array(32).fill(7);
const root = toRootHex(beaconBlockRoot);

function message(validatorIndex: number, slot: number, [payloadPresent, blobDataAvailable] = [true, true]) {
  const data: gloas.PayloadAttestationData = { beaconBlockRoot, slot, payloadPresent, blobDataAvailable };
  const key = SecretKey.fromKeygen(new Uint8Array(32).fill(validatorIndex + 1));
  return { validatorIndex, data, signature: key.sign(new Uint8Array(32)).toBytes() };
}

const positionsIn = ({ aggregationBits }: gloas.PayloadAttestation) => aggregationBits.getTrueBitIndexes();

it("aggregates by data, and counts a validator once for each of its positions", () => {
  const pool = new PayloadAttestationPool();
  const [first, second] = [message(1, 5), message(2, 5)];
  expect(pool.addMessage(first, [3, 4])).toBe("added");
  expect(pool.addMessage(second, [1])).toBe("added");
  expect(pool.addMessage(second, [1])).toBe("known");
  expect(pool.addMessage(message(6, 5, [false, true]), [0])).toBe("added");
  const [present, withheld] = pool.forBlock(6, root);
  expect(positionsIn(present!)).toEqual([1, 3, 4]);
  const sum = aggregateSerializedSignatures([first.signature, first.signature, second.signature]);
  expect(present!.signature).toEqual(sum.toBytes());
  expect(positionsIn(withheld!)).toEqual([0]);
  expect(withheld!.data.payloadPresent).toBe(false);
  expect(pool.size).toBe(2);
});

it("offers a block only the votes on its parent from the slot before, one aggregate per data", () => {
  const pool = new PayloadAttestationPool();
  for (const votes of [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ] as const) {
    pool.addMessage(message(1, 5, [...votes]), [2]);
  }
  const bits = BitArray.fromBitLen(PTC_SIZE);
  for (const position of [0, 1]) bits.set(position, true);
  pool.addAggregate({ ...message(1, 5), bits });
  expect(pool.forBlock(6, root).map(positionsIn)).toEqual([[0, 1, 2], [2], [2], [2]]);
  expect(pool.forBlock(7, root)).toEqual([]);
  expect(pool.forBlock(6, `0x${"08".repeat(32)}`)).toEqual([]);
});

it("restores a snapshot, and drops old slots", () => {
  const pool = new PayloadAttestationPool();
  pool.addMessage(message(1, 5), [2]);
  const snapshot = pool.capture();
  pool.addMessage(message(2, 5), [3]);
  pool.addMessage(message(1, 6), [3]);
  pool.restore(snapshot);
  expect(pool.list().map(positionsIn)).toEqual([[2]]);
  pool.prune(8);
  expect(pool.list()).toEqual([]);
  expect(pool.addMessage(message(1, 5), [2])).toBe("known");
});
