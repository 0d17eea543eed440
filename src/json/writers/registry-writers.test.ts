import { routes } from "@lodestar/api";
import { getValidatorStatus, type phase0, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { SharedStream, type StreamDescriptor, writeElement, writeToBuffer } from "../shared-stream.ts";
import { ANY_STATUS, statusSet } from "../validator-status.ts";
import { VALIDATORS_PER_CHUNK } from "./registry-chunks.ts";

const { ValidatorResponseListType, ValidatorBalanceListType, ValidatorIdentitiesType } = routes.beacon.state;

const EPOCH = 300_000;
const FAR = Number.POSITIVE_INFINITY;
const EPOCHS = [0, 9, 10, 9999, 10_000, EPOCH - 1, EPOCH, EPOCH + 1, 99_999_999, 2 ** 32, Number.MAX_SAFE_INTEGER, FAR];
const GWEI = [0, 1, 31_999_999_999, 32e9, 2 ** 32 - 1, 2 ** 32, 2048e9, 123_456_789_012_345, Number.MAX_SAFE_INTEGER];
const COUNT = 2 * VALIDATORS_PER_CHUNK + 7;

const pick = <T>(values: readonly T[], index: number): T => values[index % values.length]!;

/** Each field cycles through its values with its own period, which covers most combinations. */
const validators: phase0.Validator[] = Array.from({ length: COUNT }, (_, index) => ({
  pubkey: Uint8Array.from({ length: 48 }, (_, position) => (index * 31 + position * 7) & 0xff),
  withdrawalCredentials: new Uint8Array(32).fill(index & 0xff, 12).fill(index % 3, 0, 1),
  effectiveBalance: pick(GWEI, index),
  slashed: index % 5 === 0,
  activationEligibilityEpoch: pick(EPOCHS, index >> 1),
  activationEpoch: pick(EPOCHS, Math.floor(index / 3)),
  exitEpoch: pick(EPOCHS, Math.floor(index / 7)),
  withdrawableEpoch: pick(EPOCHS, Math.floor(index / 11)),
}));
const balances = validators.map((_, index) => pick(GWEI, index + 4));
const responses = validators.map((validator, index) => ({
  index,
  balance: balances[index]!,
  status: getValidatorStatus(validator, EPOCH),
  validator,
}));

function chunked(bytes: Uint8Array, recordBytes: number): SharedArrayBuffer[] {
  const chunkBytes = VALIDATORS_PER_CHUNK * recordBytes;
  return Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, chunk) => {
    const part = bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes);
    const shared = new SharedArrayBuffer(part.length);
    new Uint8Array(shared).set(part);
    return shared;
  });
}

const inputOf = (indices: number[]) => ({
  validatorChunks: chunked(ssz.phase0.Validators.serialize(indices.map((index) => validators[index]!)), 121),
  balanceChunks: chunked(ssz.phase0.Balances.serialize(indices.map((index) => balances[index]!)), 8),
  epoch: EPOCH,
  statuses: ANY_STATUS,
});

const all = inputOf([...validators.keys()]);
const some = [0, 3, 4095, 4096, COUNT - 1];
const chosen = { ...inputOf(some), indices: Uint32Array.from(some) };
const ofSome = some.map((index) => responses[index]!);

const written = (descriptor: StreamDescriptor) => writeToBuffer(descriptor);
const jsonOf = (type: { toJson(value: never): unknown }, value: unknown) => JSON.stringify(type.toJson(value as never));

describe.each([
  ["all validators", all, responses],
  ["some validators", chosen, ofSome],
  ["no validators", { ...inputOf([]), indices: Uint32Array.of() }, []],
])("%s", (_, input, expected) => {
  const ofBalances = expected.map(({ index, balance }) => ({ index, balance }));
  const identities = expected.map(({ index, validator: { pubkey, activationEpoch } }) => ({
    index,
    pubkey,
    activationEpoch,
  }));

  it("are written as JSON identical to the codecs", () => {
    expect(written({ writer: "validators", input }).toString()).toBe(jsonOf(ValidatorResponseListType, expected));
    expect(written({ writer: "balances", input }).toString()).toBe(jsonOf(ValidatorBalanceListType, ofBalances));
    expect(written({ writer: "identities", input }).toString()).toBe(jsonOf(ValidatorIdentitiesType, identities));
  });

  it("are written as SSZ identical to the codecs", () => {
    const ssz = (type: { serialize(value: never): Uint8Array }, value: unknown) =>
      Buffer.from(type.serialize(value as never));
    expect(written({ writer: "balancesSsz", input }).equals(ssz(ValidatorBalanceListType, ofBalances))).toBe(true);
    expect(written({ writer: "identitiesSsz", input }).equals(ssz(ValidatorIdentitiesType, identities))).toBe(true);
    for (const writer of ["balancesSsz", "identitiesSsz"] as const) {
      expect(SharedStream.of({ writer, input }).length).toBe(written({ writer, input }).length);
    }
    expect(SharedStream.of({ writer: "balances", input }).length).toBeUndefined();
  });

  it.each([
    ["active_ongoing", /^active_ongoing/],
    ["exited", /^exited/],
    ["withdrawal", /^withdrawal/],
  ])("are filtered by %s", (word, pattern) => {
    const wanted = expected.filter(({ status }) => pattern.test(status));
    const filtered = { ...input, statuses: statusSet([word]) };
    expect(written({ writer: "validators", input: filtered }).toString()).toBe(
      jsonOf(ValidatorResponseListType, wanted),
    );
  });
});

it("writes numbers above 2^53 exactly, where the codecs round them", () => {
  const chunk = new SharedArrayBuffer(24);
  const values = [2n ** 53n + 1n, 2n ** 64n - 2n, 12_345_678_901_234_567_890n];
  new BigUint64Array(chunk).set(values);
  const text = written({ writer: "balances", input: { balanceChunks: [chunk] } }).toString();
  expect(JSON.parse(text).map(({ balance }: { balance: string }) => BigInt(balance))).toEqual(values);
});

it("writes a single validator as in the list", () => {
  const descriptor: StreamDescriptor = { writer: "validators", input: all };
  for (const index of some) {
    const list = jsonOf(ValidatorResponseListType, [responses[index]]);
    expect(String(writeElement(descriptor, index))).toBe(list.slice(1, -1));
  }
  expect(writeElement(descriptor, COUNT)).toBeUndefined();
  expect(writeElement(descriptor, 3 * VALIDATORS_PER_CHUNK)).toBeUndefined();
  expect(writeElement({ writer: "balances", input: all }, 0)).toBeUndefined();
});
