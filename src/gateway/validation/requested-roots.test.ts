import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { methodCall, ROOT, response } from "../../../test/support/gateway/cache/method-calls.ts";
import type { UpstreamCall } from "../upstream/upstream-call.ts";
import { findViolation } from "./response-validator.ts";

const header = (slot: number) => ({ ...ssz.phase0.BeaconBlockHeader.defaultValue(), slot });
const rootOf = (slot: number) => toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header(slot)));
const data = (index: number) => ({ ...ssz.phase0.AttestationData.defaultValue(), index });
const dataRoot = (index: number) => toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data(index)));

interface Answer {
  json: unknown;
  ssz?: Uint8Array;
  fork?: string;
}

/** An object of a root, from the argument that its root depends on. */
interface Case {
  method: string;
  params(of: number): Record<string, string>;
  answer(of: number): Answer;
}

function bootstrap(fork: "altair" | "capella" | "electra", slot: number): Answer {
  const type = ssz[fork as "capella"].LightClientBootstrap;
  const value = type.defaultValue();
  value.header.beacon = header(slot);
  return { json: type.toJson(value), ssz: type.serialize(value), fork };
}

function aggregate(fork: "phase0" | "electra", index: number): Answer {
  const type = ssz[fork as "electra"].Attestation;
  const value = { ...type.defaultValue(), data: data(index) };
  return { json: type.toJson(value), ssz: type.serialize(value), fork };
}

function sidecars(slot: number): Answer {
  const type = ssz.deneb.BlobSidecar;
  const value = (of: number) => {
    const sidecar = type.defaultValue();
    sidecar.signedBlockHeader.message = header(of);
    return sidecar;
  };
  // Only the second one is of another block.
  const both = [value(7), value(slot)];
  return { json: both.map((each) => type.toJson(each)), ssz: Buffer.concat(both.map((each) => type.serialize(each))) };
}

function columns(slot: number): Answer {
  const type = ssz.fulu.DataColumnSidecar;
  const value = type.defaultValue();
  value.signedBlockHeader.message = header(slot);
  return { json: [type.toJson(value)] };
}

function envelope(slot: number): Answer {
  const type = ssz.gloas.SignedExecutionPayloadEnvelope;
  const value = type.defaultValue();
  value.message.beaconBlockRoot = ssz.phase0.BeaconBlockHeader.hashTreeRoot(header(slot));
  return { json: type.toJson(value), ssz: type.serialize(value), fork: "gloas" };
}

const ofBlock = (slot: number) => ({ block_id: rootOf(slot) });
const AGGREGATE = "get_v2_validator_aggregate_attestation";

const CASES: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    (["altair", "capella", "electra"] as const).map((fork) => [
      `a light client bootstrap of ${fork}`,
      {
        method: "get_v1_beacon_light_client_bootstrap_blockRoot",
        params: (slot: number) => ({ block_root: rootOf(slot) }),
        answer: (slot: number) => bootstrap(fork, slot),
      },
    ]),
  ),
  ...Object.fromEntries(
    (["phase0", "electra"] as const).map((fork) => [
      `an aggregate of ${fork}`,
      {
        method: AGGREGATE,
        params: (index: number) => ({ attestation_data_root: dataRoot(index), slot: "0", committee_index: "0" }),
        answer: (index: number) => aggregate(fork, index),
      },
    ]),
  ),
  "blob sidecars": { method: "get_v1_beacon_blob_sidecars_blockId", params: ofBlock, answer: sidecars },
  "data column sidecars": {
    method: "get_v1_debug_beacon_data_column_sidecars_blockId",
    params: ofBlock,
    answer: columns,
  },
  "a payload envelope": {
    method: "get_v1_beacon_execution_payload_envelopes_blockId",
    params: ofBlock,
    answer: envelope,
  },
};

function violationOf(call: UpstreamCall, answer: Answer): string | undefined {
  const { fork } = answer;
  const isSsz = call.format === "ssz";
  const type = isSsz ? "application/octet-stream" : "application/json";
  const headers = { "content-type": type, ...(fork !== undefined && { "eth-consensus-version": fork }) };
  const text = JSON.stringify({ ...(fork !== undefined && { version: fork }), data: answer.json });
  const body = isSsz ? Buffer.from(answer.ssz!) : Buffer.from(text);
  return findViolation(call, { ...response(""), headers, body }, { maxBytes: 1024 * 1024 });
}

describe.each(Object.entries(CASES))("%s", (_name, { method, params, answer }) => {
  it("has the requested root", () => {
    expect(violationOf(methodCall(method, params(7)), answer(7))).toBeUndefined();
    expect(violationOf(methodCall(method, params(7)), answer(8))).toMatch(/ has root 0x\w{64}, but \w+ 0x\w{64} was/);
  });

  it("may be requested in capital letters", () => {
    const upper = Object.fromEntries(
      Object.entries(params(7)).map(([name, value]) => [name, value.toUpperCase().replace("0X", "0x")]),
    );
    expect(violationOf(methodCall(method, upper), answer(7))).toBeUndefined();
  });

  it("has the requested root in SSZ", (context) => {
    context.skip(answer(7).ssz === undefined, "is not compared in SSZ");
    expect(violationOf(methodCall(method, params(7), { format: "ssz" }), answer(7))).toBeUndefined();
    expect(violationOf(methodCall(method, params(7), { format: "ssz" }), answer(8))).toMatch(/ has root 0x/);
  });
});

it("of a block whose fork may have been scheduled after the start is not compared", () => {
  const call = methodCall("get_v2_beacon_blocks_blockId", { block_id: ROOT });
  const { SignedBeaconBlock } = ssz.fulu;
  const block = SignedBeaconBlock.defaultValue();
  block.message.slot = 8 * 20;
  const chainSpec = (reportedAtEpoch: number) => ({
    presetBase: "minimal" as const,
    genesisValidatorsRoot: ROOT,
    genesisTime: 0,
    secondsPerSlot: 6,
    slotsPerEpoch: 8,
    forks: [{ name: "fulu", epoch: 0 }],
    reportedAtEpoch,
  });
  const body = Buffer.from(JSON.stringify({ version: "zeta", data: SignedBeaconBlock.toJson(block) }));
  const violationAt = (epoch: number) =>
    findViolation(call, { ...response(""), body }, { chainSpec: chainSpec(epoch), maxBytes: 1024 * 1024 });
  expect(violationAt(20)).toBeUndefined();
  expect(violationAt(21)).toMatch(/^data has root 0x/);
});
