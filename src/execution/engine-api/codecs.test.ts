import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { samplePayload, samplePayloadJson } from "../../../test/support/execution/engine-api/sample-payload.ts";
import { JsonValue } from "../json-value.ts";
import { blobsBundleFromJson, blobsFromJson, blobsWithCellProofsFromJson } from "./blobs-json.ts";
import { payloadFromJson, payloadToJson } from "./payload-json.ts";
import { requestsFromJson, requestsToJson } from "./requests-json.ts";
import { verdictFromJson } from "./verdict-json.ts";

const FORKS: ForkPostBellatrix[] = [
  ForkName.bellatrix,
  ForkName.capella,
  ForkName.deneb,
  ForkName.electra,
  ForkName.fulu,
  ForkName.gloas,
];
const filled = (byte: number, bytes: number) => new Uint8Array(bytes).fill(byte);
const hex = (byte: string, bytes: number) => `0x${byte.repeat(bytes)}`;
const at = (json: unknown, path = "result") => new JsonValue(json, path);

describe("payloads", () => {
  it.each(FORKS)("of %s round-trip in the Engine API encoding", (fork) => {
    expect(payloadToJson(fork, samplePayload(fork))).toEqual(samplePayloadJson(fork));
    expect(payloadFromJson(fork, at(samplePayloadJson(fork)))).toEqual(samplePayload(fork));
  });

  it.each(Object.keys(samplePayloadJson(ForkName.deneb)))("are rejected without %s", (field) => {
    const { [field]: _, ...rest } = samplePayloadJson(ForkName.deneb);
    expect(() => payloadFromJson(ForkName.deneb, at(rest, "payload"))).toThrow(`payload.${field} is missing`);
  });

  it("are rejected with more than 32 bytes of extra data", () => {
    const json = { ...samplePayloadJson(ForkName.capella), extraData: hex("00", 33) };
    expect(() => payloadFromJson(ForkName.capella, at(json))).toThrow("extraData must be");
  });
});

describe("execution requests", () => {
  const requests = {
    deposits: [
      {
        pubkey: filled(1, 48),
        withdrawalCredentials: filled(2, 32),
        amount: 0x0102,
        signature: filled(3, 96),
        index: 5n,
      },
    ],
    withdrawals: [],
    consolidations: [
      { sourceAddress: filled(6, 20), sourcePubkey: filled(7, 48), targetPubkey: filled(8, 48) },
      { sourceAddress: filled(9, 20), sourcePubkey: filled(10, 48), targetPubkey: filled(11, 48) },
    ],
  };
  const deposit = `0x00${"01".repeat(48)}${"02".repeat(32)}0201000000000000${"03".repeat(96)}0500000000000000`;
  const consolidations = `0x02${"06".repeat(20)}${"07".repeat(48)}${"08".repeat(48)}${"09".repeat(20)}${"0a".repeat(48)}${"0b".repeat(48)}`;

  it("are byte lists with a type prefix, without empty lists", () => {
    expect(requestsToJson(requests)).toEqual([deposit, consolidations]);
    expect(requestsFromJson(ForkName.electra, at([deposit, consolidations]))).toEqual(requests);
    const none = ssz.electra.ExecutionRequests.defaultValue();
    expect(requestsToJson(none)).toEqual([]);
    expect(requestsFromJson(ForkName.fulu, at([]))).toEqual(none);
    const withdrawal = `0x01${"01".repeat(20)}${"02".repeat(48)}0300000000000000`;
    expect(requestsFromJson(ForkName.fulu, at([withdrawal])).withdrawals).toEqual([
      { sourceAddress: filled(1, 20), validatorPubkey: filled(2, 48), amount: 3n },
    ]);
  });

  it("include those of builders since gloas", () => {
    const builderDeposits = [
      { pubkey: filled(1, 48), withdrawalCredentials: filled(2, 32), amount: 0x0102, signature: filled(3, 96) },
    ];
    const builderExits = [{ sourceAddress: filled(4, 20), pubkey: filled(5, 48) }];
    const all = { ...requests, builderDeposits, builderExits };
    const builderDeposit = `0x03${"01".repeat(48)}${"02".repeat(32)}0201000000000000${"03".repeat(96)}`;
    const builderExit = `0x04${"04".repeat(20)}${"05".repeat(48)}`;
    const json = [deposit, consolidations, builderDeposit, builderExit];
    expect(requestsToJson(all)).toEqual(json);
    expect(requestsFromJson(ForkName.gloas, at(json))).toEqual(all);
    expect(requestsFromJson(ForkName.gloas, at([]))).toEqual(ssz.gloas.ExecutionRequests.defaultValue());
  });

  it.each<[string, unknown, string]>([
    ["another order", [consolidations, deposit], "executionRequests[1] has type 0, but types must be ascending"],
    ["a type twice", [deposit, deposit], "executionRequests[1] has type 0"],
    ["an empty one", ["0x01"], "executionRequests[0] is empty"],
    ["no type", ["0x"], "executionRequests[0] is empty"],
    ["an unknown type", ["0x0300"], "executionRequests[0] has type 3, which fulu does not have"],
    ["half a request", [deposit.slice(0, -2)], "executionRequests[0] cannot be decoded"],
    ["null", null, "must be a list"],
  ])("are rejected with %s", (_, json, complaint) => {
    expect(() => requestsFromJson(ForkName.fulu, at(json))).toThrow(complaint);
  });
});

describe("blobs", () => {
  const blob = hex("11", 131_072);
  const bundle = (proofs: number) => ({
    commitments: [hex("c0", 48)],
    proofs: Array.from({ length: proofs }, () => hex("b0", 48)),
    blobs: [blob],
  });

  it("have one proof each, since fulu one per cell", () => {
    const read = blobsBundleFromJson(ForkName.electra, at(bundle(1)));
    expect(read).toEqual({
      commitments: [filled(0xc0, 48)],
      proofs: [filled(0xb0, 48)],
      blobs: [filled(0x11, 131_072)],
    });
    expect(blobsBundleFromJson(ForkName.fulu, at(bundle(128))).proofs).toHaveLength(128);
    expect(() => blobsBundleFromJson(ForkName.fulu, at(bundle(1)))).toThrow("1 commitments and 1 proofs");
    expect(() => blobsBundleFromJson(ForkName.deneb, at(bundle(128)))).toThrow("1 commitments and 1 proofs");
    expect(() => blobsBundleFromJson(ForkName.deneb, at({ ...bundle(1), blobs: ["0x11"] }))).toThrow("blobs[0]");
  });

  it("from the pool are in the requested order", () => {
    const json = [{ blob, proof: hex("b0", 48) }, null];
    expect(blobsFromJson(at(json), 2)).toEqual([{ blob: filled(0x11, 131_072), proofs: [filled(0xb0, 48)] }, null]);
    expect(() => blobsFromJson(at(json), 3)).toThrow("received 2 blobs, expected 3");
    const { proofs } = bundle(128);
    expect(blobsWithCellProofsFromJson(at([{ blob, proofs }]), 1)[0]?.proofs).toHaveLength(128);
    expect(() => blobsWithCellProofsFromJson(at([{ blob, proofs: [] }]), 1)).toThrow("0 cell proofs");
    expect(blobsWithCellProofsFromJson(at(null), 2)).toEqual([null, null]);
  });
});

describe("verdicts", () => {
  const latestValidHash = hex("ab", 32);
  const read = (json: object) => verdictFromJson(at({ latestValidHash: null, validationError: null, ...json })).verdict;

  it("are valid, invalid with a reason, or optimistic", () => {
    expect(read({ status: "VALID", latestValidHash })).toEqual({ status: "valid" });
    expect(read({ status: "SYNCING" })).toEqual({ status: "optimistic" });
    expect(read({ status: "ACCEPTED" })).toEqual({ status: "optimistic" });
    expect(read({ status: "INVALID", latestValidHash, validationError: "wrong gas" })).toEqual({
      status: "invalid",
      latestValidHash,
      message: "wrong gas.",
    });
    expect(read({ status: "INVALID_BLOCK_HASH", latestValidHash })).toEqual({
      status: "invalid",
      latestValidHash: null,
      message: "The execution client gave no reason.",
    });
  });

  it.each([
    {},
    { status: "valid" },
    { status: "VALID", latestValidHash: "0x12" },
    { status: "INVALID", validationError: 5 },
  ])("are rejected for %j", (json) => {
    expect(() => read(json)).toThrow(/^result\./);
  });
});
