import { ACTIVE_PRESET, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { methodCall, ROOT, response } from "../../../test/support/gateway/cache/method-calls.ts";
import { methods } from "../../api/method-groups.ts";
import { loadRecordedCalls } from "../../api/openrpc.ts";
import { isWrapped } from "../calls/responses/response-form.ts";
import { findSchemaViolation } from "../doctor/schema-check.ts";
import type { UpstreamCall } from "../upstream/upstream-call.ts";
import { findViolation } from "./response-validator.ts";

const OTHER_ROOT = `0x${"6b".repeat(32)}`;
const SIGNATURE = `0x${"00".repeat(96)}`;
const HEADER_CALL = methodCall("get_v1_beacon_headers_blockId", { block_id: "7" });

function header(slot: string, root = rootAt(slot)) {
  return { root, canonical: true, header: { message: headerMessage(slot), signature: SIGNATURE } };
}

const headerMessage = (slot: string) => {
  return { slot, proposer_index: "1", parent_root: ROOT, state_root: ROOT, body_root: ROOT };
};

function rootAt(slot: string): string {
  const type = ssz.phase0.BeaconBlockHeader;
  return /^\d+$/.test(slot) ? toRootHex(type.hashTreeRoot(type.fromJson(headerMessage(slot)))) : ROOT;
}

const upper = (hex: string) => hex.toUpperCase().replace("0X", "0x");

const violationOf = (call: UpstreamCall, body: unknown, headers: Record<string, string> = {}) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return findViolation(call, response(text, { headers: { "content-type": "application/json", ...headers } }));
};

describe("a valid answer", () => {
  it("of every recorded call passes, at any cut as the start of a stream, and fails as a whole if truncated", async () => {
    const recorded = await loadRecordedCalls();
    for (const method of methods) {
      const { result } = recorded[method.name] ?? {};
      const path = method.rest[0];
      if (result === undefined || path === undefined || findSchemaViolation(result, method.result.schema)) continue;
      // Recorded lists of validators are filtered.
      const call = { method, request: { verb: path.verb, url: path.path, headers: {} }, params: { id: "" } };
      const text = JSON.stringify(isWrapped(method) ? { data: result, finalized: true } : result);
      const body = Buffer.from(text);
      expect(findViolation(call, response(text)), method.name).toBeUndefined();
      const isChecked = method.resultForStatus === undefined && method.access !== "submit" && !method.feed;
      const step = Math.max(1, Math.floor(body.length / 200));
      for (let cut = 0; cut < body.length; cut += step) {
        const start = body.subarray(0, cut);
        expect(findViolation(call, { ...response(streamOf(start)), start }), method.name).toBeUndefined();
        if (isChecked) expect(findViolation(call, { ...response(""), body: start }), method.name).toBeDefined();
      }
    }
  });

  it("may have additional members, other white space and order, and uppercase hex", () => {
    const { root, ...rest } = header("7");
    const data = { later_member: [{ a: [null, 1.5e3, '\\"}'] }], ...rest, root: upper(root) };
    expect(violationOf(HEADER_CALL, JSON.stringify({ finalized: true, data }, null, 2))).toBeUndefined();
    expect(violationOf(HEADER_CALL, ` ${JSON.stringify({ data, more: {} })}\r\n`)).toBeUndefined();
  });

  it("of an unknown fork only needs the right type", () => {
    const call = methodCall("get_v2_beacon_blocks_blockId", { block_id: "7" });
    const data = { message: { slot: "7", body: {} }, signature: "new" };
    expect(violationOf(call, { version: "fulu", data })).toContain("data.message");
    expect(violationOf(call, { version: "later", data })).toBeUndefined();
    expect(violationOf(call, { data }, { "eth-consensus-version": "later" })).toBeUndefined();
    expect(violationOf(call, { version: "later", data: {} })).toBe('data has no member "message"');
    expect(violationOf(call, { version: "later", data: [] })).toBe("data is not an object");
  });

  it("about a node may differ in its details between clients", () => {
    const syncing = methodCall("get_v1_node_syncing");
    expect(violationOf(syncing, { data: { head_slot: "1", sync_distance: "0", is_syncing: false } })).toBeUndefined();
    expect(violationOf(syncing, { data: {} })).toBe('data has no member "head_slot"');
    const spec = { A: 1, PRESET_BASE: ACTIVE_PRESET, B: { c: [] }, GENESIS_FORK_VERSION: "0x00000001" };
    expect(violationOf(methodCall("get_v1_config_spec"), { data: spec })).toBeUndefined();
  });
});

describe("an invalid answer", () => {
  it.each([
    ["{}", 'the body has no member "data"'],
    ["[]", "the body is not an object"],
    ["null", "the body is not an object"],
    ['{"error":"quota"}', 'the body has no member "data"'],
    ['{"data":null}', "data is not an object"],
    ['{"data":{}}', 'data has no member "root"'],
    ['{"data":[]}', "data is not an object"],
    ['{"data":{"root":null}}', "data.root is not a hex string of 32 bytes"],
    ['{"data":{"root":"0x12"}}', "data.root is not a hex string of 32 bytes"],
    [JSON.stringify({ data: header("x") }), "data.header.message.slot is not a decimal integer"],
    [JSON.stringify({ data: header("8") }), "data.header.message.slot is 8, but block_id 7 was requested"],
    [`${JSON.stringify({ data: header("7") })}}`, "the body continues after its end"],
    [JSON.stringify({ data: header("7") }).slice(0, -1), "the body is truncated"],
    [`{"data":${JSON.stringify(header("7"))},"data":{}}`, 'the body has the member "data" twice'],
    [`{"data":${JSON.stringify(header("7"))},"x":tru}`, "x is not valid JSON"],
    [`{"data":${JSON.stringify(header("7"))},"x":${"[".repeat(100_000)}`, "x is nested too deeply"],
    ["", "the body is truncated"],
  ])("%s is rejected", (body, violation) => {
    expect(violationOf(HEADER_CALL, body)).toBe(violation);
  });

  it("names the path of an element", () => {
    const call = methodCall("get_v1_beacon_headers", { slot: "7" });
    const list = [header("7"), { ...header("7"), canonical: "yes" }];
    expect(violationOf(call, { data: list })).toBe("data[1].canonical is not a boolean");
    expect(violationOf(call, { data: [header("7"), header("9")] })).toMatch(/data\[1\]\.header\.message\.slot is 9/);
    expect(violationOf(call, { data: [] })).toBeUndefined();
  });

  it("is one about another root or validator", () => {
    const byRoot = methodCall("get_v1_beacon_headers_blockId", { block_id: rootAt("9") });
    expect(violationOf(byRoot, { data: header("9", upper(rootAt("9"))) })).toBeUndefined();
    expect(violationOf(byRoot, { data: header("8") })).toBe(
      `data.root is ${rootAt("8")}, but block_id ${rootAt("9")} was requested`,
    );
    expect(
      violationOf(methodCall("get_v1_beacon_headers_blockId", { block_id: "head" }), { data: header("9") }),
    ).toBeUndefined();
    const root = methodCall("get_v1_beacon_states_root", { state_id: ROOT });
    expect(violationOf(root, { data: { root: OTHER_ROOT } })).toContain("was requested");
    expect(
      violationOf(methodCall("get_v1_beacon_states_root", { state_id: "7" }), { data: { root: ROOT } }),
    ).toBeUndefined();
    expect(
      violationOf(methodCall("get_v1_beacon_states_root", { state_id: "007" }), { data: { root: ROOT } }),
    ).toBeUndefined();
  });

  const PUBKEYS = ["aa", "BB", "cc"].map((byte) => `0x${byte.repeat(48)}`);
  const validator = (index: number) => ({
    index: String(index),
    balance: "1",
    status: "active_ongoing",
    validator: {
      pubkey: PUBKEYS[index],
      withdrawal_credentials: ROOT,
      effective_balance: "1",
      slashed: false,
      activation_eligibility_epoch: "0",
      activation_epoch: "0",
      exit_epoch: "9",
      withdrawable_epoch: "9",
    },
  });
  const balance = (index: number) => ({ index: String(index), balance: "1" });
  const committee = (slot: number, index: number) => ({ index: String(index), slot: String(slot), validators: ["1"] });
  const duty = (slot: number) => ({ pubkey: PUBKEYS[0], validator_index: "1", slot: String(slot) });
  const attesterDuty = (slot: number) => ({
    ...duty(slot),
    committee_index: "0",
    committee_length: "1",
    committees_at_slot: "1",
    validator_committee_index: "0",
  });
  const sidecar = (slot: number, index: number) => {
    const value = ssz.fulu.DataColumnSidecar.defaultValue();
    value.index = index;
    value.signedBlockHeader.message.slot = slot;
    return ssz.fulu.DataColumnSidecar.toJson(value);
  };
  const checkpoint = (epoch: number) => ({ epoch: String(epoch), root: ROOT });
  const attestationData = (
    slot: number,
    { index = 0, source = 0, target = Math.floor(slot / SLOTS_PER_EPOCH) } = {},
  ) => ({
    slot: String(slot),
    index: String(index),
    beacon_block_root: ROOT,
    source: checkpoint(source),
    target: checkpoint(target),
  });
  const attestation = (slot: number, times?: Parameters<typeof attestationData>[1]) => ({
    aggregation_bits: "0x01",
    data: attestationData(slot, times),
    signature: SIGNATURE,
  });
  const dutiesOf = (epoch: number) =>
    Array.from({ length: SLOTS_PER_EPOCH }, (_, index) => duty(epoch * SLOTS_PER_EPOCH + index));
  const [inEpoch3, inEpoch4] = [3 * SLOTS_PER_EPOCH + 1, 4 * SLOTS_PER_EPOCH] as const;
  const VALIDATORS = "get_v1_beacon_states_stateId_validators";
  const BALANCES = "get_v1_beacon_states_stateId_validator_balances";
  const COMMITTEES = "get_v1_beacon_states_stateId_committees_epoch";
  const COLUMNS = "get_v1_debug_beacon_data_column_sidecars_blockId";
  const ATTESTATIONS = "get_v1_beacon_blocks_blockId_attestations";

  it.each<[method: string, params: Record<string, string>, right: unknown[], wrong: unknown[]]>([
    [VALIDATORS, { id: "0,02" }, [validator(2)], [validator(0), validator(1)]],
    [VALIDATORS, { id: `${PUBKEYS[0]},${PUBKEYS[1]!.toLowerCase()}` }, [validator(1)], [validator(2)]],
    [BALANCES, { id: "0,2" }, [balance(2)], [balance(2), balance(1)]],
    [COMMITTEES, { slot: "7" }, [committee(7, 0)], [committee(8, 0)]],
    [COMMITTEES, { index: "1" }, [committee(7, 1)], [committee(7, 1), committee(7, 0)]],
    [COMMITTEES, { epoch: "3" }, [committee(inEpoch3, 1)], [committee(inEpoch4, 1)]],
    ["get_v1_validator_duties_proposer", { epoch: "3" }, dutiesOf(3), dutiesOf(4)],
    [COLUMNS, { block_id: "7", indices: "1,02" }, [sidecar(7, 2)], [sidecar(7, 2), sidecar(7, 3)]],
    [COLUMNS, { block_id: "7" }, [sidecar(7, 2)], [sidecar(8, 2)]],
    ["get_v1_beacon_pool_attestations", { slot: "7" }, [attestation(7)], [attestation(8)]],
    [ATTESTATIONS, { block_id: String(inEpoch4) }, [attestation(inEpoch3)], [attestation(inEpoch4)]],
    [ATTESTATIONS, { block_id: String(inEpoch4) }, [attestation(inEpoch4 - 1)], [attestation(1)]],
  ])("is one to %s with elements that %j excludes", (name, params, right, wrong) => {
    const call = methodCall(name, { state_id: "head", ...params });
    expect(violationOf(call, { data: right })).toBeUndefined();
    expect(violationOf(call, { data: wrong })).toMatch(/was requested$/);
  });

  it("is an attester duty of another epoch", () => {
    const call = methodCall("post_v1_validator_duties_attester", { epoch: "3" }, { body: '["1"]' });
    const answer = (slot: number) => ({ dependent_root: ROOT, data: [attesterDuty(slot)] });
    expect(violationOf(call, answer(inEpoch3))).toBeUndefined();
    expect(violationOf(call, answer(inEpoch4))).toBe(`data[0].slot is ${inEpoch4}, but epoch 3 was requested`);
  });

  it("is a spec without constants, or of another preset", () => {
    const call = methodCall("get_v1_config_spec");
    expect(violationOf(call, { data: {} })).toBe('data has no member "PRESET_BASE"');
    expect(violationOf(call, { data: { PRESET_BASE: ACTIVE_PRESET } })).toBe(
      'data has no member "GENESIS_FORK_VERSION"',
    );
    const other = { PRESET_BASE: "other", GENESIS_FORK_VERSION: "0x00000001" };
    expect(violationOf(call, { data: other })).toMatch(/^data\.PRESET_BASE does not match/);
  });

  it.each<[method: string, filter: Record<string, string> | undefined]>([
    ["get_v1_config_fork_schedule", undefined],
    ["get_v1_validator_duties_proposer", undefined],
    [VALIDATORS, { id: "0" }],
    [VALIDATORS, { status: "active" }],
    [BALANCES, { id: "0" }],
    [COMMITTEES, { slot: "7" }],
  ])("is an empty list to %s without a filter", (name, filter) => {
    const params = { state_id: "head", epoch: "3" };
    expect(violationOf(methodCall(name, params), '{"data":[ ]}')).toBe("data is empty");
    if (filter) expect(violationOf(methodCall(name, { ...params, ...filter }), { data: [] })).toBeUndefined();
    const post = methodCall("post_v1_beacon_states_stateId_validators", params, { body: "{}" });
    expect(violationOf(post, { data: [] })).toBeUndefined();
  });

  it("cannot be told from a valid one by a list of indices and public keys", () => {
    const call = methodCall(VALIDATORS, { state_id: "head", id: `0,${PUBKEYS[1]}` });
    expect(violationOf(call, { data: [validator(0), validator(1)] })).toBeUndefined();
    expect(
      violationOf(methodCall(BALANCES, { state_id: "head", id: PUBKEYS[1]! }), { data: [balance(1)] }),
    ).toBeUndefined();
  });

  it("is the state of another slot", () => {
    const call = methodCall("get_v1_debug_beacon_states_stateId", { state_id: "7" });
    const start = (slot: number) =>
      Buffer.from(`{"data":{"genesis_time":"1","genesis_validators_root":"${ROOT}","slot":"${slot}",`);
    const violation = (slot: number) => findViolation(call, { ...response(streamOf(start(slot))), start: start(slot) });
    expect(violation(7)).toBeUndefined();
    expect(violation(8)).toBe("data.slot is 8, but state_id 7 was requested");
  });

  it("is a light client update of another period", async () => {
    const call = methodCall("get_v1_beacon_light_client_updates", { start_period: "3", count: "2" });
    const [update] = (await loadRecordedCalls()).get_v1_beacon_light_client_updates!.result as {
      data: { attested_header: { beacon: object } };
    }[];
    const of = (period: number) => {
      const slot = String(period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH);
      const beacon = { ...update!.data.attested_header.beacon, slot };
      return { ...update, data: { ...update!.data, attested_header: { ...update!.data.attested_header, beacon } } };
    };
    expect(violationOf(call, [of(3), of(4)])).toBeUndefined();
    expect(violationOf(call, [of(2)])).toMatch(/but start_period 3 was requested/);
    expect(violationOf(call, [of(3), of(5)])).toMatch(/^\[1\].* but start_period 3 was requested/);
  });

  it("never passes if JSON.parse rejects it, and any JSON passes as an additional member", () => {
    const good = JSON.stringify({ data: header("7") });
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (value, position, byte) => {
          const text = good.replace('"canonical"', () => `"more":${JSON.stringify(value)},"canonical"`);
          expect(violationOf(HEADER_CALL, text)).toBeUndefined();
          const spoiled = Buffer.from(text);
          spoiled[position % spoiled.length]! ^= byte;
          if (findViolation(HEADER_CALL, { ...response(""), body: spoiled }) === undefined) expectJson(spoiled);
        },
      ),
      { numRuns: 1000 },
    );
  });

  function expectJson(bytes: Buffer): void {
    expect(() => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), String(bytes)).not.toThrow();
  }

  it("is one with a control character, a wrong escape or invalid UTF-8, in a string of any length", () => {
    const violationWith = (inserted: string, length = 0, encoding: BufferEncoding = "utf8") => {
      const member = `"more":"${"a".repeat(length)}${inserted}${"b".repeat(length)}","canonical"`;
      const text = JSON.stringify({ data: header("7") }).replace('"canonical"', () => member);
      return findViolation(
        HEADER_CALL,
        { ...response(""), body: Buffer.from(text, encoding) },
        { maxBytes: 1024 * 1024 },
      );
    };
    for (const length of [0, 3, 255, 256, 1000, 1001, 1002, 1003]) {
      for (const valid of ["", "\\n", '\\"', "\\\\", "\\u00e9", "é", "\u007f"]) {
        expect(violationWith(valid, length), `${length} ${valid}`).toBeUndefined();
      }
      for (const invalid of ["\u0000", "\u0001", "\n", "\t", "\u001f", "\\x", "\\u00g0", "\\ "]) {
        expect(violationWith(invalid, length), `${length} ${invalid}`).toBe("data.more is not valid JSON");
      }
      expect(violationWith("\u00ff", length, "latin1")).toBe("the body is not valid UTF-8");
    }
  });

  it("is one with a control character between values, or a number with a leading zero", () => {
    const good = JSON.stringify({ data: header("7"), more: 1 });
    for (const at of [",", ":", "{", "}"]) {
      for (const control of ["\u0000", "\u000b", "\u000c", "\u001f"]) {
        expect(violationOf(HEADER_CALL, good.replaceAll(at, `${at}${control}`)), JSON.stringify(at)).toBeDefined();
        expect(violationOf(HEADER_CALL, good.replace(/1\}$/, `1${control}}`))).toBe("more is not valid JSON");
        expect(violationOf(HEADER_CALL, control + good)).toBe("the body is not an object");
      }
    }
    expect(violationOf(HEADER_CALL, good.replace(/1\}$/, "01}"))).toBe("more is not valid JSON");
    expect(violationOf(HEADER_CALL, good.replace('"7"', "07"))).toMatch(/is a number instead of a decimal/);
    expect(violationOf(HEADER_CALL, good.replaceAll(",", ", \t\r\n"))).toBeUndefined();
  });
});

describe("SSZ", () => {
  const violationOfSsz = (call: UpstreamCall, body: Buffer) =>
    findViolation(call, { ...response(""), headers: { "content-type": "application/octet-stream" }, body });

  function block(slot: number, length = 400): Buffer {
    const bytes = Buffer.alloc(length);
    bytes.writeUInt32LE(100, 0);
    bytes.writeBigUInt64LE(BigInt(slot), 100);
    bytes.writeUInt32LE(84, 180);
    return bytes;
  }

  it("is checked for length, offsets and slot", () => {
    const call = methodCall("get_v2_beacon_blocks_blockId", { block_id: "7" }, { format: "ssz" });
    expect(violationOfSsz(call, block(7))).toBeUndefined();
    expect(violationOfSsz(call, block(8))).toBe("the body has slot 8, but 7 was requested");
    expect(violationOfSsz(call, block(7).subarray(0, 150))).toBe("the body has only 150 bytes");
    expect(violationOfSsz(call, Buffer.alloc(400))).toBe("the body has offset 0 instead of 100");
    expect(violationOfSsz(call, Buffer.from(JSON.stringify({ error: "quota ".repeat(50) })))).toContain("offset");
    const balances = methodCall(
      "get_v1_beacon_states_stateId_validator_balances",
      { state_id: "7" },
      { format: "ssz" },
    );
    expect(violationOfSsz(balances, Buffer.alloc(32))).toBeUndefined();
    expect(violationOfSsz(balances, Buffer.alloc(33))).toBe("the body has 33 bytes, not a multiple of 16");
    const filtered = methodCall(balances.method.name, { state_id: "7", id: "0,5" }, { format: "ssz" });
    expect(violationOfSsz(filtered, Buffer.alloc(32))).toBeUndefined();
    expect(violationOfSsz(filtered, Buffer.alloc(32, 1))).toMatch(
      /^the body has validator \d+, which was not requested$/,
    );
    const state = methodCall("get_v2_debug_beacon_states_stateId", { state_id: "7" }, { format: "ssz" });
    expect(violationOfSsz(state, Buffer.alloc(100))).toBe("the body has only 100 bytes");
    expect(violationOfSsz(state, Buffer.alloc(10_000))).toBe("the body has slot 0, but 7 was requested");
  });

  it.each(["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const)(
    "of %s is rejected if bytes are missing or added",
    (fork) => {
      const check = (name: string, body: Uint8Array) =>
        findViolation(methodCall(name, { state_id: "0", block_id: "0" }, { format: "ssz" }), {
          ...response(""),
          headers: { "content-type": "application/octet-stream", "eth-consensus-version": fork },
          body: Buffer.from(body),
        });
      const { SignedBeaconBlock, BeaconState } = ssz[fork];
      const bodies = {
        get_v2_beacon_blocks_blockId: SignedBeaconBlock.serialize(SignedBeaconBlock.defaultValue() as never),
        get_v2_debug_beacon_states_stateId: BeaconState.serialize(BeaconState.defaultValue() as never),
      };
      for (const [name, body] of Object.entries(bodies)) {
        expect(check(name, body)).toBeUndefined();
        expect(check(name, body.subarray(0, -1)), name).toBeDefined();
        expect(check(name, Buffer.concat([body, Buffer.alloc(33)])), name).toBeDefined();
      }
    },
  );

  it("of blob sidecars is checked for its length", () => {
    const call = methodCall("get_v1_beacon_blob_sidecars_blockId", { block_id: "7" }, { format: "ssz" });
    const size = ssz.deneb.BlobSidecar.fixedSize!;
    expect(violationOfSsz(call, Buffer.alloc(2 * size))).toBeUndefined();
    expect(violationOfSsz(call, Buffer.alloc(2 * size - 1))).toContain("not a multiple");
  });

  it("of a stream is checked by its Content-Length", () => {
    const call = methodCall("get_v1_beacon_blobs_blockId", { block_id: "7" }, { format: "ssz" });
    const start = Buffer.alloc(4096);
    const streamed = (length: number) => {
      const headers = { "content-type": "application/octet-stream", "content-length": String(length) };
      return findViolation(call, { ...response(streamOf(start)), headers, start });
    };
    expect(streamed(2 * 131_072)).toBeUndefined();
    expect(streamed(131_073)).toContain("not a multiple");
  });
});

async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
