import { describe, expect, it } from "vitest";
import { bodyOf, ScriptedGateway } from "../../../test/support/gateway/calls/scripted-gateway.ts";
import { methods as definitions } from "../../api/method-groups.ts";

describe("a gateway itself", () => {
  it("is ready while an upstream is, and reports the health of all", async () => {
    const gateway = new ScriptedGateway(undefined, ["one", "two"]);
    const reasons = ["It is 40 slots behind."];
    gateway.health[1] = { upstream: "two", state: "behind", reasons };
    const ready = { ready: true, warmed_up: true, synced: true, database_writable: true, execution_online: true };
    expect(await gateway.result("getReadiness")).toEqual({
      ...ready,
      upstreams: [
        { upstream: "one", condition: "ready", reasons: [] },
        { upstream: "two", condition: "behind", reasons },
      ],
    });
    expect((await gateway.request("/fanal/v1/ready", "/fanal/v1/ready")).status).toBe(200);
    gateway.health[0] = { upstream: "one", state: "down", reasons: ["It cannot be reached."] };
    expect(await gateway.result("getReadiness")).toMatchObject({
      ready: false,
      synced: false,
      reasons: ["No upstream is ready. one is down: It cannot be reached. two is behind: It is 40 slots behind."],
    });
    const answer = await gateway.request("/fanal/v1/ready", "/fanal/v1/ready");
    expect(answer.status).toBe(503);
    expect(JSON.parse(bodyOf(answer)).data.ready).toBe(false);
    expect(gateway.asked).toEqual([]);
  });

  it("is not ready if fewer upstreams are usable than the quorum needs", async () => {
    const gateway = new ScriptedGateway(undefined, ["one", "two"], 2);
    gateway.health[1] = { upstream: "two", state: "behind", reasons: [] };
    expect(await gateway.result("getReadiness")).toMatchObject({ ready: true });
    gateway.health[1] = { upstream: "two", state: "late", reasons: ["It did not answer within 2 s."] };
    expect(await gateway.result("getReadiness")).toMatchObject({
      ready: false,
      synced: true,
      reasons: [
        "The quorum requires 2 usable upstreams, but only 1 of 2 is. two is late: It did not answer within 2 s.",
      ],
    });
    expect((await gateway.request("/fanal/v1/ready", "/fanal/v1/ready")).status).toBe(503);
  });

  it("answers its health by the status alone, without an upstream", async () => {
    const gateway = new ScriptedGateway(() => ({ body: "quota exceeded", headers: { "cache-control": "immutable" } }));
    const path = "/eth/v1/node/health";
    const expectHealth = async (health: number, whileSyncing: number) => {
      expect(await gateway.request(path, path)).toEqual({ status: health });
      expect(await gateway.request(path, `${path}?syncing_status=299`)).toEqual({ status: whileSyncing });
      expect(await gateway.result("get_v1_node_health")).toEqual({ health });
      expect(await gateway.result("get_v1_node_health", [299])).toEqual({ health: whileSyncing });
    };
    await expectHealth(200, 200);
    gateway.health[0] = { upstream: "one", state: "behind", reasons: [] };
    await expectHealth(206, 299);
    gateway.health[0] = { upstream: "one", state: "down", reasons: [] };
    await expectHealth(503, 503);
    await expect(gateway.request(path, `${path}?syncing_status=soon`)).rejects.toThrow("syncing_status");
    expect(gateway.asked).toEqual([]);
  });

  it("serves all methods of a node except those of dev chains, and describes them", async () => {
    const gateway = new ScriptedGateway();
    const all = definitions.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(gateway.names)).toEqual(new Set(all));
    const { methods } = (await gateway.result("rpc.discover")) as { methods: { name: string }[] };
    const described = new Set(methods.map(({ name }) => name));
    for (const { name, access, needsEvm } of definitions) {
      const isServed = access !== "dev" && !needsEvm;
      expect(described.has(name), name).toBe(isServed && name !== "rpc.discover");
      if (!isServed) await expect(gateway.call(name)).rejects.toMatchObject({ kind: "unsupported" });
    }
    expect(gateway.asked).toEqual([]);
  });
});
