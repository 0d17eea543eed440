import { ListCompositeType } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
    expect((await post(`/${namespace}/v1/chronicles/settings`, "INFO; TRACE:chain", {})).status).toBe(200);
    expect((await post(`/${namespace}/v1/chronicles/settings`, "LOUD", {})).status).toBe(400);
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
    ["/eth/v1/beacon/light_client/bootstrap/0x12", 400],
  ])("%s is %i", async (path, status) => {
    const reply = await served.ask(path);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toEqual({ code: status, message: expect.any(String) });
  });

  it("take lists by commas and by repeated names", async () => {
    const path = "/eth/v1/beacon/states/head/validators";
    const indices = async (query: string) =>
      (await data(`${path}${query}`)).map(({ index }: { index: string }) => Number(index));
    expect(await indices("?id=2,1")).toEqual([1, 2]);
    expect(await indices("?id=2&id=1")).toEqual([1, 2]);
    expect(await indices(`?id=${chain.pubkey(3)}&status=active,exited`)).toEqual([3]);
    expect(await indices("?id=")).toHaveLength(chain.validatorCount);
    expect(await indices("?other=1")).toHaveLength(chain.validatorCount);
  });
});

describe("bodies", () => {
  it.each([
    ["/eth/v1/validator/duties/attester/5", "{}", 400],
    ["/eth/v1/validator/duties/attester/5", '["x"]', 400],
    ["/eth/v1/validator/duties/attester/5", "[", 400],
    ["/eth/v1/validator/duties/attester/x", '["1"]', 400],
    ["/eth/v1/validator/liveness/5", '["0x12"]', 400],
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

  it("must be of a type that is known", async () => {
    const exit = chain.voluntaryExit(12);
    expect((await post("/eth/v1/beacon/pool/voluntary_exits", exit, { "Content-Type": "text/plain" })).status).toBe(
      415,
    );
    const bytes = Buffer.from(ssz.phase0.SignedVoluntaryExit.serialize(ssz.phase0.SignedVoluntaryExit.fromJson(exit)));
    const send = (body: Buffer) =>
      served.ask("/eth/v1/beacon/pool/voluntary_exits", {
        method: "POST",
        headers: { "Content-Type": SSZ_TYPE },
        body,
      });
    const undecodable = await send(bytes.subarray(1));
    expect(undecodable.status).toBe(400);
    expect(JSON.parse(undecodable.text).message).toBe(
      "The body is not a valid SSZ encoding of a signed voluntary exit.",
    );
    expect((await send(bytes)).status).toBe(200);
  });

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
