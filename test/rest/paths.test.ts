import { ListCompositeType } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { RestPath } from "../../src/api/definition.ts";
import { createRouteTable } from "../../src/api/rest/routes.ts";
import { OpenApi } from "../conformance/openapi.ts";
import { ExampleDevChain } from "../support/example-chain.ts";
import { type ServedApi, serveApi } from "../support/served-api.ts";

const JSON_HEADERS = { "Content-Type": "application/json" };
const SSZ_TYPE = "application/octet-stream";

let chain: ExampleDevChain;
let served: ServedApi;
beforeAll(async () => {
  chain = await ExampleDevChain.open(ForkName.phase0);
  served = await serveApi(chain.api);
});
afterAll(async () => {
  await served?.close();
  await chain?.close();
});

const data = async (path: string) => JSON.parse((await served.ask(path)).text).data;
const post = (path: string, body: unknown, headers: Record<string, string> = JSON_HEADERS) =>
  served.ask(path, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });
const askBytes = async (path: string) => {
  const response = await fetch(served.restUrl + path, { headers: { Accept: SSZ_TYPE } });
  const { status, headers } = response;
  return { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
};
const resultOf = async (method: string, params: unknown[] = []) =>
  JSON.parse((await served.call(method, params)).text).result;

describe.each(["fanal", "nimbus"])("the extensions under /%s", (namespace) => {
  it.each([
    ["beacon/head", "getBeaconHead"],
    ["chain/head", "getChainHead"],
    ["node/version", "getNodeVersion"],
    ["network/peers", "peers"],
    ["syncmanager/status", "getSyncing"],
    ["eth1/chain", "getEth1Chain"],
    ["eth1/proposal_data", "getEth1ProposalData"],
    ["debug/chronos/futures", "debug_getChronosFutures"],
    ["debug/gossip/peers", "debug_getGossipSubPeers"],
  ])("%s is %s", async (path, method) => {
    expect(await data(`/${namespace}/v1/${path}`)).toEqual(await resultOf(method));
  });

  it("take plain text, whatever its type is called", async () => {
    const path = `/${namespace}/v1/graffiti`;
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const { status, text } = await post(path, `by ${namespace}`, { "Content-Type": type });
      expect({ status, text }).toEqual({ status: 200, text: '{"data":true}' });
      expect(Buffer.from(chain.chain.graffiti.get()).toString()).toContain(`by ${namespace}`);
    }
    expect((await post(path, "x".repeat(33), {})).status).toBe(400);
    const text = '"quoted"';
    for (const [type, body] of [
      ["text/plain", text],
      ["Application/JSON; charset=utf-8", JSON.stringify(text)],
    ] as const) {
      expect((await post(path, body, { "Content-Type": type })).status).toBe(200);
      expect(Buffer.from(chain.chain.graffiti.get()).toString()).toBe(text.padEnd(32, "\0"));
    }
    for (const body of ["5", "null", "{}", "plain"]) {
      expect((await post(path, body)).status, body).toBe(400);
    }
    expect((await post(`/${namespace}/v1/chronicles/settings`, "INFO; TRACE:chain", {})).status).toBe(200);
    expect((await post(`/${namespace}/v1/chronicles/settings`, "LOUD", {})).status).toBe(400);
  });
});

describe("SSZ", () => {
  const documents = [new OpenApi("v2.5.0"), new OpenApi("v4.0.0")];
  /** What other versions of the standard than those of the documents say of paths that these do not have, or later. */
  const OTHER_VERSIONS: Record<string, RestPath["ssz"]> = {
    "GET /eth/v1/beacon/blocks/{block_id}": "answer",
    "GET /eth/v1/debug/beacon/states/{state_id}": "answer",
    "GET /eth/v1/beacon/states/{state_id}/validator_balances": "answer",
    "POST /eth/v1/beacon/states/{state_id}/validator_balances": "answer",
    "POST /eth/v1/beacon/execution_payload_bids": "body",
    "POST /eth/v1/beacon/execution_payload_envelopes": "body",
    "GET /eth/v1/beacon/execution_payload_envelopes/{block_id}": "answer",
    "GET /eth/v1/beacon/pool/payload_attestations": "answer",
    "POST /eth/v1/beacon/pool/payload_attestations": "body",
    "GET /eth/v4/validator/blocks/{slot}": "answer",
    "GET /eth/v1/validator/payload_attestation_data": "answer",
    "POST /eth/v1/validator/proposer_preferences": "body",
    "GET /eth/v1/validator/execution_payload_bids/{slot}/{builder_index}": "answer",
    "GET /eth/v1/validator/execution_payload_envelopes/{slot}/{beacon_block_root}": "answer",
  };

  it("is where the standard has it, and nowhere else", () => {
    const routes = createRouteTable(served.methods);
    const inStandard = routes.map(({ verb, path }) => {
      const ssz = documents.map((document) => document.sszOf({ verb, path })).find((each) => each !== undefined);
      return [`${verb} ${path}`, ssz ?? OTHER_VERSIONS[`${verb} ${path}`]] as const;
    });
    const here = routes.map(({ verb, path, answers, accepts }) => {
      const ssz = answers.includes("ssz") ? "answer" : accepts.includes("ssz") ? "body" : undefined;
      return [`${verb} ${path}`, ssz] as const;
    });
    expect(Object.fromEntries(here)).toEqual(Object.fromEntries(inStandard));
    expect(inStandard.filter(([, ssz]) => ssz !== undefined).length).toBeGreaterThan(30);
  });

  it.each([
    [SSZ_TYPE, 406],
    [`${SSZ_TYPE}, application/json;q=0`, 406],
    [`${SSZ_TYPE}, application/json;q=0.1`, 200],
    [`${SSZ_TYPE}, */*;q=0.1`, 200],
  ])("that an operation does not have: Accept %s is %i", async (accept, status) => {
    for (const path of ["/eth/v1/beacon/genesis", "/eth/v1/beacon/states/head/validators", "/eth/v1/beacon/headers"]) {
      const reply = await served.ask(path, { headers: { Accept: accept } });
      expect(reply.status, path).toBe(status);
      expect(reply.headers.get("content-type")).toBe("application/json");
    }
  });

  it("of a block to be signed is the block, also in the second version", async () => {
    const query = `${chain.slot}?randao_reveal=${await chain.randaoReveal()}`;
    for (const path of ["/eth/v2/validator/blocks", "/eth/v3/validator/blocks", "/eth/v1/validator/blinded_blocks"]) {
      const { status, headers, body } = await askBytes(`${path}/${query}`);
      expect({ path, status, type: headers.get("content-type") }).toEqual({ path, status: 200, type: SSZ_TYPE });
      expect(headers.get("eth-consensus-version")).toBe("phase0");
      expect(ssz.phase0.BeaconBlock.toJson(ssz.phase0.BeaconBlock.deserialize(body))).toEqual(
        await data(`${path}/${query}`),
      );
    }
    const first = await served.ask(`/eth/v1/validator/blocks/${query}`, { headers: { Accept: SSZ_TYPE } });
    expect(first.status).toBe(406);
  });

  it("of no light client updates has no forks in a header", async () => {
    const { status, headers, body } = await askBytes("/eth/v1/beacon/light_client/updates?start_period=0&count=0");
    expect({ status, length: body.length }).toEqual({ status: 200, length: 0 });
    expect(headers.has("eth-consensus-version")).toBe(false);
  });
});

describe("earlier versions", () => {
  it.each(["debug/beacon/states/finalized", "beacon/blocks/head"])(
    "of %s have the SSZ of the newer one",
    async (path) => {
      const asked = { headers: { Accept: SSZ_TYPE } };
      const [earlier, newer] = await Promise.all(
        ["v1", "v2"].map((version) => served.ask(`/eth/${version}/${path}`, asked)),
      );
      expect(earlier!.status).toBe(200);
      expect(earlier!.headers.get("content-type")).toBe(SSZ_TYPE);
      expect(earlier!.text).toBe(newer!.text);
    },
  );

  it("of reads answer as the methods do", async () => {
    const { slot } = chain;
    expect(await data("/eth/v1/beacon/blocks/head")).toEqual(await resultOf("get_v1_beacon_blocks_blockId", ["head"]));
    expect(await data("/eth/v1/debug/beacon/heads")).toEqual(await resultOf("get_v1_debug_beacon_heads"));
    const state = await resultOf("get_v1_debug_beacon_states_stateId", ["finalized"]);
    expect(await data("/eth/v1/debug/beacon/states/finalized")).toEqual(state);
    const { peer_id } = (await data("/eth/v1/node/peers"))[0];
    expect((await data(`/eth/v1/node/peer/${peer_id}`)).peer_id).toBe(peer_id);
    const reveal = await chain.randaoReveal();
    const block = await data(`/eth/v2/validator/blocks/${slot}?randao_reveal=${reveal}&graffiti=0x6d79`);
    expect(block).toEqual(await resultOf("get_v1_validator_block", [slot, reveal, "my"]));
    expect(await data(`/eth/v1/validator/blocks/${slot}?randao_reveal=${reveal}&graffiti=0x6d79`)).toEqual(block);
    const infinity = `0xc0${"00".repeat(95)}`;
    const unverified = `/eth/v2/validator/blocks/${slot}?randao_reveal=${infinity}&skip_randao_verification`;
    expect((await data(unverified)).body.randao_reveal).toBe(infinity);
  });
});

it("graffiti need not be text", async () => {
  const reveal = await chain.randaoReveal();
  const graffiti = `0x${"ff".repeat(31)}00`;
  const block = await data(`/eth/v3/validator/blocks/${chain.slot}?randao_reveal=${reveal}&graffiti=${graffiti}`);
  expect(block.body.graffiti).toBe(graffiti);
});

describe("identifiers and filters", () => {
  it.each([
    ["/eth/v1/beacon/states/tail/root", 400],
    ["/eth/v1/beacon/states/0x12/root", 400],
    ["/eth/v1/beacon/states/-1/root", 400],
    ["/eth/v1/beacon/states/01/root", 400],
    ["/eth/v1/beacon/states/18446744073709551615/root", 404],
    ["/eth/v1/beacon/states/18446744073709551616/root", 400],
    [`/eth/v1/beacon/states/0x${"00".repeat(32)}/root`, 404],
    ["/eth/v1/beacon/headers/justified", 400],
    ["/eth/v1/beacon/headers/999999", 404],
    ["/eth/v1/beacon/headers?slot=x", 400],
    ["/eth/v1/beacon/headers?parent_root=0x1", 400],
    ["/eth/v1/beacon/states/head/validators/x", 400],
    ["/eth/v1/beacon/states/head/validators/999", 404],
    ["/eth/v1/beacon/states/head/validators?id=x", 400],
    ["/eth/v1/beacon/states/head/validators?status=gone", 400],
    ["/eth/v1/beacon/states/head/committees?epoch=1&epoch=2", 400],
    ["/eth/v1/node/peers?state=gone", 400],
    ["/eth/v1/node/peers/nobody", 400],
    ["/eth/v1/node/health?syncing_status=199", 400],
    ["/eth/v1/node/health?syncing_status=600", 400],
    ["/eth/v1/validator/attestation_data", 400],
    ["/eth/v1/validator/attestation_data?slot=1.5&committee_index=0", 400],
    ["/eth/v3/validator/blocks/9?randao_reveal=0x00", 400],
    ["/eth/v2/validator/blocks/9", 400],
    ["/eth/v1/events", 400],
    ["/eth/v1/events?topics=nothing", 400],
    ["/eth/v1/events?topics=", 400],
    ["/eth/v1/beacon/states/head/validators?id=", 400],
    ["/eth/v1/beacon/states/head/validators?id", 400],
    ["/eth/v1/beacon/states/head/validators?id=1,", 400],
    ["/eth/v1/beacon/states/head/validators?id=1&id=", 400],
    ["/eth/v1/beacon/states/head/validators?status=", 400],
    ["/eth/v1/beacon/states/head/validators?id=1&id=1", 400],
    ["/eth/v1/beacon/states/head/validators?id=%zz", 400],
    ["/eth/v1/beacon/states/head/validators?other=%ff", 400],
    ["/eth/v1/beacon/states/head/validator_balances?id=", 400],
    ["/eth/v1/beacon/states/head/committees?index=64", 400],
    ["/eth/v1/beacon/states/head/committees?epoch=", 400],
    ["/eth/v1/beacon/states/%ff/root", 400],
    [`/eth/v1/beacon/states/${"x".repeat(1000)}/root`, 400],
    ["/eth/v1/node/peers?state=", 400],
    ["/eth/v1/node/peers?direction=", 400],
    ["/eth/v1/beacon/blobs/head?versioned_hashes=", 400],
    ["/eth/v1/debug/beacon/data_column_sidecars/head?indices=", 400],
    ["/eth/v1/debug/beacon/data_column_sidecars/head?indices=128", 400],
    ["/eth/v3/validator/blocks/9?skip_randao_verification=constructor", 400],
    ["/eth/v1/beacon/light_client/bootstrap/0x12", 400],
  ])("%s is %i", async (path, status) => {
    const reply = await served.ask(path);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toEqual({ code: status, message: expect.any(String) });
  });

  it("name the parent that the genesis block does not have", async () => {
    const [genesis, ...others] = await data(`/eth/v1/beacon/headers?parent_root=0x${"00".repeat(32)}`);
    expect(genesis).toEqual(await data("/eth/v1/beacon/headers/genesis"));
    expect(others).toEqual([]);
  });

  it("take lists by commas and by repeated names", async () => {
    const path = "/eth/v1/beacon/states/head/validators";
    const indices = async (query: string) =>
      (await data(`${path}${query}`)).map(({ index }: { index: string }) => Number(index));
    expect(await indices("?id=2,1")).toEqual([1, 2]);
    expect(await indices("?id=2&id=1")).toEqual([1, 2]);
    expect(await indices(`?id=${chain.pubkey(3)}&status=active,exited`)).toEqual([3]);
    expect(await indices("?other=1&other=")).toHaveLength(chain.validatorCount);
  });
});

describe("bodies", () => {
  it.each([
    ["/eth/v1/validator/duties/attester/5", "{}", 400],
    ["/eth/v1/validator/duties/attester/5", '["x"]', 400],
    ["/eth/v1/validator/duties/attester/5", "[", 400],
    ["/eth/v1/validator/duties/attester/x", '["1"]', 400],
    ["/eth/v1/validator/liveness/5", '["0x12"]', 400],
    ["/eth/v1/validator/duties/attester/5", '"1"', 400],
    ["/eth/v1/validator/duties/attester/5", "null", 400],
    ["/eth/v1/validator/duties/attester/5", '["18446744073709551615"]', 400],
    ["/eth/v1/validator/duties/attester/5", "[1e0]", 400],
    ["/eth/v1/validator/liveness/5", '"1"', 400],
    ["/eth/v1/beacon/states/head/validators", "null", 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":"active"}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":["gone"]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":[null]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":{}}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":"1"}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":[1.0]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":[9007199254740993]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":null,"statuses":null}', 200],
    ["/eth/v1/beacon/states/head/validators", '{"__proto__":{"ids":["x"]}}', 200],
    ["/eth/v1/beacon/states/head/validators", '{"ids":["x"],"ids":["1"]}', 200],
    ["/eth/v1/beacon/states/head/validators", `{"ids":${"[".repeat(5000)}${"]".repeat(5000)}}`, 400],
    ["/eth/v1/beacon/states/head/validators", "", 200],
    ["/eth/v1/beacon/states/head/validator_balances", "null", 400],
    ["/eth/v1/beacon/states/head/validator_balances", '"1"', 400],
    ["/eth/v1/beacon/states/head/validator_identities", "null", 400],
    ["/eth/v1/beacon/states/head/validators", "[]", 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":["x"]}', 400],
    ["/eth/v1/beacon/states/head/validator_balances", '{"ids":[]}', 400],
    ["/eth/v1/beacon/pool/voluntary_exits", "{}", 400],
    ["/eth/v1/beacon/pool/voluntary_exits", "[]", 400],
    ["/eth/v1/beacon/pool/attestations", "{}", 400],
    ["/eth/v1/beacon/pool/attestations", "[]", 200],
    ["/eth/v1/validator/beacon_committee_subscriptions", "[]", 200],
    ["/eth/v2/beacon/pool/attestations", "[]", 400],
  ])("%s with %s is %i", async (path, body, status) => {
    expect((await post(path, body)).status).toBe(status);
  });

  it("may be left out where they only filter", async () => {
    const { status, text } = await served.ask("/eth/v1/beacon/states/head/validators", { method: "POST" });
    expect(status).toBe(200);
    expect(JSON.parse(text).data).toHaveLength(chain.validatorCount);
  });

  it("with empty lists filter as little as no lists", async () => {
    const path = "/eth/v1/beacon/states/head/validators";
    const filter = { ids: [], statuses: [] };
    const all = await data(path);
    expect(all).toHaveLength(chain.validatorCount);
    expect(JSON.parse((await post(path, filter)).text).data).toEqual(all);
    expect(await resultOf("post_v1_beacon_states_stateId_validators", ["head", filter])).toEqual(all);
    expect(await resultOf("get_v1_beacon_states_stateId_validators", ["head", [], []])).toEqual(all);
  });

  it("must be of a type that the operation takes", async () => {
    const exit = chain.voluntaryExit(12);
    for (const type of ["text/plain", SSZ_TYPE]) {
      const { status, text } = await post("/eth/v1/beacon/pool/voluntary_exits", exit, { "Content-Type": type });
      expect(status).toBe(415);
      expect(JSON.parse(text).message).toContain("must be application/json");
    }
  });

  it.each(["/eth/v1/beacon/blocks", "/eth/v1/beacon/blinded_blocks", "/eth/v2/beacon/blocks"])(
    "of blocks may be SSZ at %s",
    async (path) => {
      const held = await askBytes(`/eth/v2/beacon/blocks/${chain.chain.head.root}`);
      const send = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
        served.ask(path, { method: "POST", headers: { "Content-Type": SSZ_TYPE, ...headers }, body });
      const version = { "Eth-Consensus-Version": "phase0" };
      expect((await send(held.body, version)).status).toBe(200);
      // The first versions do without the header, and know the fork by the slot.
      expect((await send(held.body, {})).status).toBe(path.startsWith("/eth/v1") ? 200 : 400);
      expect((await send(held.body, { "Eth-Consensus-Version": "altair" })).status).toBe(400);
      for (const length of [0, 3, 50, held.body.length - 1]) {
        expect((await send(held.body.slice(0, length), {})).status).toBe(400);
      }
    },
  );

  it("of another fork than they say are refused", async () => {
    const headers = { ...JSON_HEADERS, "Eth-Consensus-Version": "altair" };
    expect((await post("/eth/v2/beacon/blocks", await chain.signedBlock(), headers)).status).toBe(400);
    expect((await post("/eth/v2/beacon/blocks", await chain.signedBlock())).status).toBe(400);
    const type = ssz.phase0.SignedBeaconBlock;
    const altair = ssz.altair.SignedBeaconBlock.defaultValue();
    altair.message.slot = type.fromJson(await chain.signedBlock()).message.slot;
    const reply = await served.ask("/eth/v2/beacon/blocks", {
      method: "POST",
      headers: { "Content-Type": SSZ_TYPE, "Eth-Consensus-Version": "altair" },
      body: Buffer.from(ssz.altair.SignedBeaconBlock.serialize(altair)),
    });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).message).toContain("altair");
  });

  it("in SSZ that the header's fork does not fit are refused with the fork of their slot", async () => {
    const block = ssz.phase0.SignedBeaconBlock.fromJson(await chain.signedBlock());
    const [attestation] = await chain.attestations();
    const attestations = new ListCompositeType(ssz.phase0.Attestation, 8).serialize([
      ssz.phase0.Attestation.fromJson(attestation),
    ]);
    const send = async (path: string, version: string, body: Uint8Array) => {
      const headers = { "Content-Type": SSZ_TYPE, "Eth-Consensus-Version": version };
      const { status, text } = await served.ask(path, { method: "POST", headers, body: Buffer.from(body) });
      return [status, JSON.parse(text).message];
    };
    const belongs = `the body is one of phase0, to which its slot ${chain.slot} belongs.`;
    const blockBytes = ssz.phase0.SignedBeaconBlock.serialize(block);
    for (const version of ["altair", "deneb", "Fulu"]) {
      expect(await send("/eth/v2/beacon/blocks", version, blockBytes)).toEqual([
        400,
        `The header Eth-Consensus-Version is ${version.toLowerCase()}, but ${belongs}`,
      ]);
    }
    expect(await send("/eth/v2/beacon/pool/attestations", "electra", attestations)).toEqual([
      400,
      `The header Eth-Consensus-Version is electra, but ${belongs}`,
    ]);
    expect(await send("/eth/v2/beacon/blocks", "altair", blockBytes.subarray(1))).toEqual([
      400,
      "The body is not a valid SSZ encoding of a signed block of the fork altair.",
    ]);
    expect(await send("/eth/v2/beacon/pool/attestations", "phase0", attestations.subarray(1))).toEqual([
      400,
      "The body is not a valid SSZ encoding of a list of attestations of the fork phase0.",
    ]);
  });

  it("may name a validator twice whose liveness they ask for", async () => {
    const { status, text } = await post(`/eth/v1/validator/liveness/${chain.epoch}`, ["1", "1"]);
    expect(status).toBe(200);
    expect(JSON.parse(text).data.map(({ index }: { index: string }) => index)).toEqual(["1", "1"]);
  });

  it("that hold wrong items are told of each", async () => {
    const [good] = await chain.attestations();
    const bad = { ...good, signature: `0xc0${"00".repeat(95)}` };
    const { status, text } = await post("/eth/v1/beacon/pool/attestations", [good, bad]);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: 400, failures: [{ index: 1, message: expect.any(String) }] });
  });
});

describe("answers that cannot change", () => {
  it("may be kept by root, and asked for again by slot", async () => {
    const bySlot = await served.ask("/eth/v2/beacon/blocks/3");
    expect(bySlot.headers.get("cache-control")).toBe("no-cache");
    const tag = bySlot.headers.get("etag")!;
    expect((await served.ask("/eth/v2/beacon/blocks/3", { headers: { "If-None-Match": tag } })).status).toBe(304);
    const { root } = await data("/eth/v1/beacon/blocks/3/root");
    const byRoot = await served.ask(`/eth/v2/beacon/blocks/${root}`);
    expect(byRoot.text).toBe(bySlot.text);
    expect(byRoot.headers.get("cache-control")).toContain("immutable");
    for (const id of ["finalized", "genesis", "head", chain.chain.head.root, String(chain.chain.head.slot)]) {
      expect((await served.ask(`/eth/v2/beacon/blocks/${id}`)).headers.get("cache-control"), id).toBe("no-store");
    }
  });

  it.each([
    "/eth/v2/debug/beacon/states/{state_id}",
    "/eth/v1/beacon/states/{state_id}/root",
    "/eth/v1/beacon/states/{state_id}/validators",
    "/eth/v1/beacon/states/{state_id}/validator_balances?id=1",
    "/eth/v1/beacon/states/{state_id}/committees",
  ])("about states: %s", async (template) => {
    const ask = (id: string, headers: Record<string, string> = {}) =>
      served.ask(template.replace("{state_id}", id), { headers });
    const { root } = await data("/eth/v1/beacon/states/3/root");
    for (const [id, caching] of [
      ["3", "no-cache"],
      [root, "immutable"],
    ]) {
      const { headers, text } = await ask(id);
      expect(headers.get("cache-control")).toContain(caching);
      const tag = headers.get("etag")!;
      expect((await ask(id, { "If-None-Match": '"other"' })).text).toBe(text);

      const states = vi.spyOn(chain.chain.states, "afterBlock");
      const again = await ask(id, { "If-None-Match": tag });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers.get("etag")).toBe(tag);
      expect(again.headers.get("cache-control")).toContain(caching);
      expect(states).not.toHaveBeenCalled();
      states.mockRestore();
      expect((await ask("4", { "If-None-Match": tag })).status).toBe(200);
    }
    for (const id of ["finalized", "genesis", "head", String(chain.chain.head.slot)]) {
      const { headers } = await ask(id);
      expect([headers.get("cache-control"), headers.has("etag")], id).toEqual(["no-store", false]);
    }
    expect((await ask("3x", { "If-None-Match": "*" })).status).toBe(400);
  });

  it("may be about a state in JSON or in SSZ, of all or of some", async () => {
    const tagOf = async (path: string, accept = "application/json") =>
      (await served.ask(`/eth/${path}`, { headers: { Accept: accept } })).headers.get("etag");
    const tags = await Promise.all([
      tagOf("v2/debug/beacon/states/3"),
      tagOf("v2/debug/beacon/states/3", SSZ_TYPE),
      tagOf("v1/beacon/states/3/validators"),
      tagOf("v1/beacon/states/3/validators?id=1"),
    ]);
    expect(tags).not.toContain(null);
    expect(new Set(tags).size).toBe(tags.length);
  });

  it("are different in JSON and in SSZ", async () => {
    const inSsz = await served.ask("/eth/v2/beacon/blocks/3", { headers: { Accept: SSZ_TYPE } });
    expect(inSsz.headers.get("content-type")).toBe(SSZ_TYPE);
    expect(inSsz.headers.get("eth-consensus-version")).toBe("phase0");
    expect(inSsz.headers.get("etag")).not.toBe((await served.ask("/eth/v2/beacon/blocks/3")).headers.get("etag"));
  });
});

describe("events", () => {
  it("arrive as they happen", async () => {
    const leaving = new AbortController();
    const response = await fetch(`${served.restUrl}/eth/v1/events?topics=voluntary_exit,head`, {
      signal: leaving.signal,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const exit = chain.voluntaryExit(14);
    expect((await post("/eth/v1/beacon/pool/voluntary_exits", exit)).status).toBe(200);
    const { value } = await response.body!.getReader().read();
    expect(Buffer.from(value!).toString()).toBe(`event: voluntary_exit\ndata: ${JSON.stringify(exit)}\n\n`);
    leaving.abort();
  });
});

it("complained of nothing", () => {
  expect(chain.complaints).toEqual([]);
  expect(served.log.filter(({ level }) => level === "error")).toEqual([]);
});
