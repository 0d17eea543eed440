import { BitArray, OptionalType } from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { describeValueFault, valueFault } from "./value-fault.ts";

const { SignedBeaconBlock, BeaconState } = ssz.fulu;

it("finds no fault in default values, nor in decoded ones", () => {
  const block = SignedBeaconBlock.defaultValue();
  block.message.body.executionPayload.transactions = [new Uint8Array(3), new Uint8Array(0)];
  block.message.body.attestations = [ssz.electra.Attestation.defaultValue()];
  expect(valueFault(SignedBeaconBlock, block)).toBeUndefined();
  expect(valueFault(SignedBeaconBlock, SignedBeaconBlock.deserialize(SignedBeaconBlock.serialize(block)))).toBe(
    undefined,
  );
  expect(valueFault(BeaconState, BeaconState.defaultValue())).toBeUndefined();
  // Infinity stands for the maximum epoch.
  expect(valueFault(ssz.EpochInf, Number.POSITIVE_INFINITY)).toBeUndefined();
});

const deposit = ssz.electra.DepositRequest.defaultValue();
const withdrawals = Array.from({ length: 18 }, () => ssz.electra.WithdrawalRequest.defaultValue());

it.each<[path: string, value: unknown, reason: string, faulty?: string]>([
  ["message.body.executionRequests.withdrawals", withdrawals, "has 18 elements, at most 16 allowed"],
  [
    "message.body.executionRequests.deposits",
    [deposit, { ...deposit, pubkey: new Uint8Array(0) }],
    "has 0 bytes, expected 48",
    "message.body.executionRequests.deposits[1].pubkey",
  ],
  ["message.body.executionPayload.extraData", new Uint8Array(33), "has 33 bytes, at most 32 allowed"],
  ["message.body.syncAggregate.syncCommitteeBits", BitArray.fromBitLen(7), "has 7 bits, expected 32"],
  ["message.body.executionPayload.blobGasUsed", 2n ** 64n, "is 18446744073709551616, not a uint64"],
  ["message.body.executionPayload.gasUsed", Number.POSITIVE_INFINITY, "is Infinity, not a uint64"],
  ["message.slot", 1.5, "is 1.5, not a uint64"],
  ["message.slot", -1, "is -1, not a uint64"],
  ["message.slot", undefined, "is undefined, not a uint64"],
  ["message.parentRoot", "0x", "is not a byte array"],
  ["message.body.eth1Data", undefined, "is not an object"],
  ["message.body.deposits", undefined, "is not an array"],
  ["message.body.syncAggregate.syncCommitteeBits", [], "is not a bit array"],
  ["signature", new Uint8Array(95), "has 95 bytes, expected 96"],
])("names %s with the value %o: %s", (path, value, reason, faulty = path) => {
  const block = SignedBeaconBlock.defaultValue();
  const fields = path.split(".");
  const last = fields.pop()!;
  const parent = fields.reduce((at, field) => at[field] as Record<string, unknown>, block as Record<string, unknown>);
  parent[last] = value;
  expect(valueFault(SignedBeaconBlock, block)).toEqual({ path: faulty, reason });
});

it("checks bits, booleans, vectors, and a value without a path", () => {
  const attestation = ssz.phase0.Attestation.defaultValue();
  attestation.aggregationBits = BitArray.fromBitLen(5000);
  expect(valueFault(ssz.phase0.Attestation, attestation)).toEqual({
    path: "aggregationBits",
    reason: "has 5000 bits, at most 2048 allowed",
  });
  const validator = { ...ssz.phase0.Validator.defaultValue(), slashed: 1 as never };
  expect(describeValueFault(ssz.phase0.Validator, validator)).toBe("slashed is 1, not a boolean");
  expect(describeValueFault(BeaconState, { ...BeaconState.defaultValue(), blockRoots: [] })).toMatch(
    /^blockRoots has 0 elements, expected \d+$/,
  );
  expect(describeValueFault(ssz.Root, new Uint8Array(3))).toBe("it has 3 bytes, expected 32");
  // Types that no fork uses.
  const optional = new OptionalType(ssz.phase0.Checkpoint);
  expect(valueFault(optional, null)).toBeUndefined();
  expect(describeValueFault(optional, {})).toMatch(/^it cannot be encoded: /);
});

it("checks progressive types", () => {
  const { SignedBeaconBlock, BeaconState, ExecutionPayload } = ssz.gloas;
  const block = SignedBeaconBlock.defaultValue();
  const { body } = block.message;
  body.attestations = [ssz.gloas.Attestation.defaultValue()];
  body.signedExecutionPayloadBid.message.builderIndex = Number.POSITIVE_INFINITY;
  body.parentExecutionRequests.deposits = [deposit];
  expect(valueFault(SignedBeaconBlock, block)).toBeUndefined();
  expect(valueFault(BeaconState, BeaconState.defaultValue())).toBeUndefined();
  body.parentExecutionRequests.deposits = [{ ...deposit, pubkey: new Uint8Array(1) }];
  expect(describeValueFault(SignedBeaconBlock, block)).toBe(
    "message.body.parentExecutionRequests.deposits[0].pubkey has 1 bytes, expected 48",
  );
  const payload = { ...ExecutionPayload.defaultValue(), blockAccessList: [] as never };
  expect(describeValueFault(ExecutionPayload, payload)).toBe("blockAccessList is not a byte array");
  const attestation = { ...ssz.gloas.Attestation.defaultValue(), aggregationBits: [] as never };
  expect(describeValueFault(ssz.gloas.Attestation, attestation)).toBe("aggregationBits is not a bit array");
});
