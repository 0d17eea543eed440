import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import type { RestPath } from "../../src/api/definition.ts";
import { createRouteTable } from "../../src/api/rest/routes.ts";
import { OpenApi } from "../conformance/openapi.ts";
import { ServedChain, SSZ_TYPE } from "./served-chain.ts";

const rest = new ServedChain(ForkName.phase0);
const { ask, askBytes, data, post, resultOf } = rest;

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

  it("accept plain text with any media type", async () => {
    const path = `/${namespace}/v1/graffiti`;
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const { status, text } = await post(path, `by ${namespace}`, { "Content-Type": type });
      expect({ status, text }).toEqual({ status: 200, text: '{"data":true}' });
      expect(Buffer.from(rest.chain.chain.graffiti.get()).toString()).toContain(`by ${namespace}`);
    }
    expect((await post(path, "x".repeat(33), {})).status).toBe(400);
    const text = '"quoted"';
    for (const [type, body] of [
      ["text/plain", text],
      ["Application/JSON; charset=utf-8", JSON.stringify(text)],
    ] as const) {
      expect((await post(path, body, { "Content-Type": type })).status).toBe(200);
      expect(Buffer.from(rest.chain.chain.graffiti.get()).toString()).toBe(text.padEnd(32, "\0"));
    }
    for (const body of ["5", "null", "{}", "plain"]) {
      expect((await post(path, body)).status, body).toBe(400);
    }
    expect((await post(`/${namespace}/v1/chronicles/settings`, "INFO; TRACE:chain", {})).status).toBe(200);
    expect((await post(`/${namespace}/v1/chronicles/settings`, "LOUD", {})).status).toBe(400);
  });
});

describe("SSZ", () => {
  const documents = [new OpenApi("v2.5.0"), new OpenApi("v4.0.0"), new OpenApi("v5.0.0-alpha")];
  /** SSZ of paths according to other versions of the standard than the documents. */
  const OTHER_VERSIONS: Record<string, RestPath["ssz"]> = {
    "GET /eth/v1/beacon/blocks/{block_id}": "response",
    "GET /eth/v1/debug/beacon/states/{state_id}": "response",
    // ethereum/beacon-APIs#630. The body may be SSZ, too.
    "POST /eth/v4/validator/blocks/{slot}": "response",
    "POST /eth/v1/validator/builder_preferences/{pubkey}": "body",
  };

  it("is supported exactly where the standard specifies it", () => {
    const routes = createRouteTable(rest.served.methods);
    const inStandard = routes.map(({ verb, path }) => {
      const ssz = documents.map((document) => document.sszOf({ verb, path })).find((each) => each !== undefined);
      return [`${verb} ${path}`, ssz ?? OTHER_VERSIONS[`${verb} ${path}`]] as const;
    });
    const here = routes.map(({ verb, path, responseFormats, accepts }) => {
      const ssz = responseFormats.includes("ssz") ? "response" : accepts.includes("ssz") ? "body" : undefined;
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
      const reply = await ask(path, { headers: { Accept: accept } });
      expect(reply.status, path).toBe(status);
      expect(reply.headers.get("content-type")).toBe("application/json");
    }
  });

  it("of a produced block is the block, also in the second version", async () => {
    const query = `${rest.chain.slot}?randao_reveal=${await rest.chain.randaoReveal()}`;
    for (const path of ["/eth/v2/validator/blocks", "/eth/v3/validator/blocks", "/eth/v1/validator/blinded_blocks"]) {
      const { status, headers, body } = await askBytes(`${path}/${query}`);
      expect({ path, status, type: headers.get("content-type") }).toEqual({ path, status: 200, type: SSZ_TYPE });
      expect(headers.get("eth-consensus-version")).toBe("phase0");
      expect(ssz.phase0.BeaconBlock.toJson(ssz.phase0.BeaconBlock.deserialize(body))).toEqual(
        await data(`${path}/${query}`),
      );
    }
    const first = await ask(`/eth/v1/validator/blocks/${query}`, { headers: { Accept: SSZ_TYPE } });
    expect(first.status).toBe(406);
  });

  it("of an empty list of light client updates has no fork header", async () => {
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
      const [earlier, newer] = await Promise.all(["v1", "v2"].map((version) => ask(`/eth/${version}/${path}`, asked)));
      expect(earlier!.status).toBe(200);
      expect(earlier!.headers.get("content-type")).toBe(SSZ_TYPE);
      expect(earlier!.text).toBe(newer!.text);
    },
  );

  it("of reads return the same as the methods", async () => {
    const { slot } = rest.chain;
    expect(await data("/eth/v1/beacon/blocks/head")).toEqual(await resultOf("get_v1_beacon_blocks_blockId", ["head"]));
    expect(await data("/eth/v1/debug/beacon/heads")).toEqual(await resultOf("get_v1_debug_beacon_heads"));
    const state = await resultOf("get_v1_debug_beacon_states_stateId", ["finalized"]);
    expect(await data("/eth/v1/debug/beacon/states/finalized")).toEqual(state);
    const { peer_id } = (await data("/eth/v1/node/peers"))[0];
    expect((await data(`/eth/v1/node/peer/${peer_id}`)).peer_id).toBe(peer_id);
    const reveal = await rest.chain.randaoReveal();
    const block = await data(`/eth/v2/validator/blocks/${slot}?randao_reveal=${reveal}&graffiti=0x6d79`);
    expect(block).toEqual(await resultOf("get_v1_validator_block", [slot, reveal, "my"]));
    expect(await data(`/eth/v1/validator/blocks/${slot}?randao_reveal=${reveal}&graffiti=0x6d79`)).toEqual(block);
    const infinity = `0xc0${"00".repeat(95)}`;
    const unverified = `/eth/v2/validator/blocks/${slot}?randao_reveal=${infinity}&skip_randao_verification`;
    expect((await data(unverified)).body.randao_reveal).toBe(infinity);
  });
});

it("accepts graffiti that is not text", async () => {
  const reveal = await rest.chain.randaoReveal();
  const graffiti = `0x${"ff".repeat(31)}00`;
  const block = await data(`/eth/v3/validator/blocks/${rest.chain.slot}?randao_reveal=${reveal}&graffiti=${graffiti}`);
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
    const reply = await ask(path);
    expect(reply.status).toBe(status);
    const kind = status === 404 ? "not-found" : "invalid-params";
    expect(JSON.parse(reply.text)).toEqual({ code: status, message: expect.any(String), kind });
  });

  it("accept the zero parent root of the genesis block", async () => {
    const [genesis, ...others] = await data(`/eth/v1/beacon/headers?parent_root=0x${"00".repeat(32)}`);
    expect(genesis).toEqual(await data("/eth/v1/beacon/headers/genesis"));
    expect(others).toEqual([]);
  });

  it("accept comma-separated lists and repeated names", async () => {
    const path = "/eth/v1/beacon/states/head/validators";
    const indices = async (query: string) =>
      (await data(`${path}${query}`)).map(({ index }: { index: string }) => Number(index));
    expect(await indices("?id=2,1")).toEqual([1, 2]);
    expect(await indices("?id=2&id=1")).toEqual([1, 2]);
    expect(await indices(`?id=${rest.chain.pubkey(3)}&status=active,exited`)).toEqual([3]);
    expect(await indices("?other=1&other=")).toHaveLength(rest.chain.validatorCount);
  });
});

describe("events", () => {
  it("arrive as they happen", async () => {
    const leaving = new AbortController();
    const response = await fetch(`${rest.served.restUrl}/eth/v1/events?topics=voluntary_exit,head`, {
      signal: leaving.signal,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const exit = rest.chain.voluntaryExit(14);
    expect((await post("/eth/v1/beacon/pool/voluntary_exits", exit)).status).toBe(200);
    const { value } = await response.body!.getReader().read();
    expect(Buffer.from(value!).toString()).toBe(`event: voluntary_exit\ndata: ${JSON.stringify(exit)}\n\n`);
    leaving.abort();
  });
});

it("logged no warnings or errors", () => rest.expectNoComplaints());
