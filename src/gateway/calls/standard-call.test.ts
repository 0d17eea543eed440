import { describe, expect, it } from "vitest";
import { ROOT, ScriptedGateway } from "../../../test/support/gateway/calls/scripted-gateway.ts";
import { parseMessage } from "../../json/parse.ts";
import type { Params } from "../../server/method-table.ts";

describe("a call becomes a REST request", () => {
  async function requestOf(name: string, params: Params) {
    const gateway = new ScriptedGateway();
    await gateway.call(name, params);
    return gateway.asked[0]!;
  }

  it.each<[string, Params, string]>([
    ["get_v1_beacon_states_root", ["head"], "GET /eth/v1/beacon/states/head/root"],
    ["get_v1_beacon_states_root", { state_id: 5 }, "GET /eth/v1/beacon/states/5/root"],
    ["get_v1_beacon_states_root", [`0x${"AB".repeat(32)}`], `GET /eth/v1/beacon/states/0x${"ab".repeat(32)}/root`],
    [
      "get_v1_beacon_states_stateId_validators",
      ["head", ["1", 2], ["active"]],
      "GET /eth/v1/beacon/states/head/validators?id=1&id=2&status=active",
    ],
    ["get_v1_beacon_states_stateId_validators", ["head", []], "GET /eth/v1/beacon/states/head/validators"],
    ["get_v1_beacon_headers", ["18446744073709551615"], "GET /eth/v1/beacon/headers?slot=18446744073709551615"],
    [
      "get_v3_validator_blocks_slot",
      [7, ROOT.replace("0x", `0x${"11".repeat(64)}`), "me", true, 2],
      `GET /eth/v3/validator/blocks/7?randao_reveal=0x${"11".repeat(96)}&graffiti=0x${Buffer.from("me").toString("hex").padEnd(64, "0")}&skip_randao_verification=&builder_boost_factor=2`,
    ],
    [
      "get_v1_validator_block",
      { slot: 7, randao_reveal: `0x${"11".repeat(96)}` },
      `GET /eth/v3/validator/blocks/7?builder_boost_factor=0&randao_reveal=0x${"11".repeat(96)}`,
    ],
    ["get_v1_validator_attestation", [7, 0], "GET /eth/v1/validator/attestation_data?slot=7&committee_index=0"],
    ["get_v1_beacon_pool_attestations", [], "GET /eth/v2/beacon/pool/attestations"],
  ])("%s %j", async (name, params, expected) => {
    const { request } = await requestOf(name, params);
    expect(`${request.verb} ${request.url}`).toBe(expected);
  });

  it("with path and query parameters", async () => {
    const { params } = await requestOf("get_v1_beacon_states_stateId_validators", ["head", ["1", "2"]]);
    expect(params).toEqual({ state_id: "head", id: "1,2" });
  });

  it("with an unchanged body", async () => {
    const body = '[[{"slot":"1","big":12345678901234567890,"fraction":1.50}]]';
    const params = parseMessage(Buffer.from(body)) as Params;
    const { request } = await requestOf("post_v2_beacon_pool_attestations", params);
    expect(String(request.body)).toBe(body.slice(1, -1));
    expect(request.headers["content-type"]).toBe("application/json");
  });

  it("with items that are spread over the parameters as one list", async () => {
    const { request } = await requestOf("post_v1_beacon_pool_attestations", [{ a: 1 }, [{ a: 2 }, { a: 3 }]]);
    expect(String(request.body)).toBe('[{"a":1},{"a":2},{"a":3}]');
  });

  it("with an empty list where a list may be left out", async () => {
    const { request } = await requestOf("post_v1_beacon_states_stateId_validator_balances", ["head"]);
    expect(String(request.body)).toBe("[]");
  });

  it.each<[string, string, unknown, string]>([
    ["its own, if that is said", "post_v2_beacon_blocks", [{ message: { slot: "1" } }, null, "fulu"], "fulu"],
    ["that of its slot", "post_v2_beacon_blocks", [{ message: { slot: "1" } }], "deneb"],
    [
      "that of its slot",
      "post_v1_beacon_blocks",
      [{ blobs: [], signed_block: { message: { slot: "16" } } }],
      "electra",
    ],
    [
      "that of its slot",
      "post_v2_beacon_blocks",
      [{ message: { body: { attestations: [{ data: { slot: "15" } }] }, slot: "16" } }],
      "electra",
    ],
    ["that of its slot", "post_v1_beacon_pool_attestations", [{ data: { slot: 15 } }], "deneb"],
    ["that of now, when it has no slot", "post_v2_beacon_pool_attester_slashings", [{}], "fulu"],
  ])("with the fork of an object: %s (%s)", async (_what, name, params, fork) => {
    const { request } = await requestOf(name, params as Params);
    expect(request.headers["eth-consensus-version"]).toBe(fork);
  });

  it("with a body instead of a URL that is too long", async () => {
    const ids = Array.from({ length: 2000 }, (_, index) => String(index));
    const { request, method } = await requestOf("get_v1_beacon_states_stateId_validators", ["head", ids, ["active"]]);
    expect(method.name).toBe("post_v1_beacon_states_stateId_validators");
    expect(request).toMatchObject({ verb: "POST", url: "/eth/v1/beacon/states/head/validators" });
    expect(JSON.parse(String(request.body))).toEqual({ ids, statuses: ["active"] });
    const balances = await requestOf("get_v1_beacon_states_stateId_validator_balances", ["head", ids]);
    expect(JSON.parse(String(balances.request.body))).toEqual(ids);
  });

  it("unless its parameters are invalid", async () => {
    const gateway = new ScriptedGateway();
    await expect(gateway.call("get_v1_beacon_states_root", ["tail"])).rejects.toThrow(
      'The parameter "state_id" must be',
    );
    await expect(gateway.call("get_v1_node_peers_peerId", ["../../x"])).rejects.toThrow("must consist of letters");
    await expect(gateway.call("post_v2_beacon_blocks", [])).rejects.toThrow('signed_block_or_contents" is missing');
    expect(gateway.asked).toEqual([]);
  });
});

describe("an answer names its upstream", () => {
  it("in headers, with its metadata", async () => {
    const body = { version: "fulu", data: { root: ROOT }, finalized: true };
    const gateway = new ScriptedGateway(() => ({ body, cachedIn: "memory" }));
    const answer = await gateway.call("get_v1_beacon_states_root", ["head"]);
    expect(String(answer.body)).toBe(JSON.stringify({ root: ROOT }));
    expect(answer.meta).toEqual({ version: "fulu", finalized: true });
    expect(answer.headers).toEqual({
      "Fanal-Upstream": "one",
      "Fanal-Kept": "memory",
      "Eth-Consensus-Version": "fulu",
      "Eth-Consensus-Finalized": "true",
    });
  });

  it("without invalid header values", async () => {
    const gateway = new ScriptedGateway(() => ({ body: { version: "fulu\r\nSet-Cookie: x", data: {} } }));
    expect((await gateway.call("get_v1_beacon_genesis")).headers).toEqual({ "Fanal-Upstream": "one" });
  });

  it.each([200, 202])("by the status %i where that is the result", async (status) => {
    const gateway = new ScriptedGateway(() => ({ status, body: "null" }));
    expect(await gateway.result("post_v2_beacon_blocks", [{}])).toBe(status);
    const accepted = gateway.result("post_v1_validator_block", [{}]);
    if (status === 200) expect(await accepted).toBe(true);
    else await expect(accepted).rejects.toMatchObject({ kind: "rejected", message: expect.stringContaining("one") });
  });
});
