import { BitArray, type Type } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sszJson } from "./ssz-json.ts";

const written = <T>(type: Type<T>, value: T) => sszJson(type as Type<unknown>, type.serialize(value)).toString();
const byCodec = <T>(type: Type<T>, value: T) => JSON.stringify(type.toJson(value));

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const checkpoint = fc.record({ epoch: fc.maxSafeNat(), root: bytes(32) });

describe("sszJson", () => {
  it("writes the same as the codec for random values", () => {
    const validator = fc.record({
      pubkey: bytes(48),
      withdrawalCredentials: bytes(32),
      effectiveBalance: fc.maxSafeNat(),
      slashed: fc.boolean(),
      activationEligibilityEpoch: fc.oneof(fc.maxSafeNat(), fc.constant(Number.POSITIVE_INFINITY)),
      activationEpoch: fc.nat(),
      exitEpoch: fc.oneof(fc.nat(), fc.constant(Number.POSITIVE_INFINITY)),
      withdrawableEpoch: fc.oneof(fc.nat(), fc.constant(Number.POSITIVE_INFINITY)),
    });
    const attestation = fc.record({
      aggregationBits: fc.array(fc.boolean(), { maxLength: 300 }).map((bits) => BitArray.fromBoolArray(bits)),
      data: fc.record({
        slot: fc.nat(),
        index: fc.nat(),
        beaconBlockRoot: bytes(32),
        source: checkpoint,
        target: checkpoint,
      }),
      signature: bytes(96),
      committeeBits: fc
        .array(fc.boolean(), {
          minLength: ssz.electra.CommitteeBits.lengthBits,
          maxLength: ssz.electra.CommitteeBits.lengthBits,
        })
        .map((bits) => BitArray.fromBoolArray(bits)),
    });
    const payload = fc
      .record({
        feeRecipient: bytes(20),
        extraData: fc.uint8Array({ maxLength: 32 }),
        baseFeePerGas: fc.bigInt(0n, 2n ** 256n - 1n),
        transactions: fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 5 }),
        blobGasUsed: fc.bigInt(0n, 2n ** 64n - 1n),
      })
      .map((fields) => ({ ...ssz.deneb.ExecutionPayload.defaultValue(), ...fields }));
    fc.assert(
      fc.property(validator, fc.array(attestation, { maxLength: 3 }), payload, (someone, attestations, execution) => {
        expect(written(ssz.phase0.Validator, someone)).toBe(byCodec(ssz.phase0.Validator, someone));
        const body = { ...ssz.electra.BeaconBlockBody.defaultValue(), attestations, executionPayload: execution };
        expect(written(ssz.electra.BeaconBlockBody, body)).toBe(byCodec(ssz.electra.BeaconBlockBody, body));
      }),
      { numRuns: 30 },
    );
  });

  it("writes lists of small and large numbers", () => {
    const sizes = [0, 1, 9, 10, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 7, Number.MAX_SAFE_INTEGER];
    for (const scores of [[], [7], sizes, [...sizes].reverse(), Array.from({ length: 3000 }, (_, index) => index)]) {
      expect(written(ssz.altair.InactivityScores, scores)).toBe(byCodec(ssz.altair.InactivityScores, scores));
      const flags = scores.map((score) => score % 256);
      expect(written(ssz.altair.EpochParticipation, flags)).toBe(byCodec(ssz.altair.EpochParticipation, flags));
    }
  });

  it.each(Object.values(ForkName))("writes the blocks of every fork: %s", (fork) => {
    const type = ssz[fork].SignedBeaconBlock as Type<unknown>;
    const block = type.defaultValue();
    expect(written(type, block)).toBe(byCodec(type, block));
  });

  it("writes integers beyond 2^53 exactly", () => {
    const type = ssz.phase0.Checkpoint as Type<unknown>;
    const serialized = Buffer.alloc(40);
    serialized.writeBigUInt64LE(2n ** 60n + 1n);
    expect(sszJson(type, serialized).toString()).toContain('"epoch":"1152921504606846977"');
  });
});
