import { describe, expect, it } from "vitest";
import { bodyOf, CHAIN_SPEC, ScriptedGateway } from "../../../test/support/gateway/calls/scripted-gateway.ts";
import { StandardOperations } from "./standard-operations.ts";

describe("a composed answer", () => {
  it.each(['{"data":null}', '{"data":{}}', '{"data":{x}}'])(
    "fails with the name of the upstream for %s",
    async (body) => {
      const gateway = new ScriptedGateway(() => ({ body, headers: { "content-type": "application/json" } }));
      for (const name of ["getNetworkEnr", "getBeaconHead", "getChainHead", "getNetworkPeers"]) {
        await expect(gateway.call(name)).rejects.toMatchObject({
          kind: "unavailable",
          message: expect.stringMatching(/^one answered \w+ with a result that does not match the standard/),
        });
      }
    },
  );

  it("is bounded and cancellable", async () => {
    let isOver = false;
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024, "a");
    async function* endless() {
      try {
        yield Buffer.from('{"data":"');
        for (; ; sent += chunk.length) yield chunk;
      } finally {
        isOver = true;
      }
    }
    const ask = () => ({ upstream: "one", status: 200, headers: {}, body: endless() });
    const operations = new StandardOperations({
      reader: { read: async () => ask() },
      upstreams: { submit: async () => ask() },
      chainSpec: CHAIN_SPEC,
      timers: { unixNow: () => 0 },
    });
    const leaving = new AbortController();
    const read = () => operations.read("get_v1_node_identity", [], { signal: leaving.signal }, (value) => value);
    await expect(read()).rejects.toThrow("one answered with more than");
    expect(isOver).toBe(true);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    isOver = false;
    const left = read();
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(isOver).toBe(true);
  });
});

describe("extension methods", () => {
  const LACKING = { status: 404, body: { statusCode: 404, message: "Route GET:/nimbus/v1 not found" } };

  it("go to upstreams that support them, and retry others after a version change", async () => {
    const gateway = new ScriptedGateway(
      ({ deprioritized }) => (deprioritized?.has("one") ? { upstream: "two", body: { data: [] } } : LACKING),
      ["one", "two"],
    );
    expect(await gateway.result("getEth1Chain")).toEqual([]);
    expect(gateway.requests).toEqual(Array(2).fill("GET /nimbus/v1/eth1/chain"));
    await gateway.call("getEth1Chain");
    expect(gateway.asked).toHaveLength(3);
    gateway.health[0] = { ...gateway.health[0]!, version: "2" };
    await gateway.call("getEth1Chain");
    expect(gateway.asked).toHaveLength(5);
    const answer = await gateway.request("/fanal/v1/eth1/chain", "/fanal/v1/eth1/chain");
    expect(bodyOf(answer)).toBe('{"data":[]}');
    expect(gateway.requests.at(-1)).toBe("GET /nimbus/v1/eth1/chain");
  });

  it("are unsupported if no upstream has them, without further requests", async () => {
    const gateway = new ScriptedGateway(() => LACKING);
    for (let time = 0; time < 2; time++) {
      await expect(gateway.call("getStateProof", ["head", ["slot"]])).rejects.toMatchObject({
        kind: "unsupported",
        message: "getStateProof is not a standard operation, and no upstream supports it.",
      });
    }
    await expect(gateway.call("setGraffiti", ["hello"])).rejects.toMatchObject({ kind: "unsupported" });
    await expect(gateway.request("/fanal/v1/eth1/chain", "/fanal/v1/eth1/chain")).rejects.toMatchObject({
      kind: "unsupported",
    });
    expect(gateway.requests).toEqual([
      "POST /fanal/v1/proofs/states/head",
      "POST /nimbus/v1/graffiti",
      "GET /nimbus/v1/eth1/chain",
    ]);
  });

  it("are composed of standard operations if possible", async () => {
    const peer = { peer_id: "Qm1", last_seen_p2p_address: "/ip4/127.0.0.1/tcp/9000" };
    const gateway = new ScriptedGateway(({ request }) =>
      request.url.startsWith("/eth/") ? { body: { data: [peer] } } : LACKING,
    );
    expect(await gateway.result("peers")).toEqual({
      peers: [
        {
          id: "Qm1",
          info: {
            peerId: "Qm1",
            addrs: [peer.last_seen_p2p_address],
            protocols: [],
            protoVersion: "",
            agentVersion: "",
          },
          connectionState: "Connected",
          score: 0,
        },
      ],
    });
    expect(await gateway.result("getChainTime")).toEqual({
      chain_time: "1200.500",
      wall_time: "1200.500",
      offset: "0.000",
      speed: 1,
      slot: "33",
      wall_slot: "33",
      seconds_to_next_slot: "3.500",
    });
    const answer = await gateway.request("/nimbus/v1/network/peers", "/nimbus/v1/network/peers");
    expect(JSON.parse(bodyOf(answer)).data.peers).toHaveLength(1);
  });
});
