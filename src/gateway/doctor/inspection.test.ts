import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { Answer, healthyScript, root, scriptedProbe } from "../../../test/support/gateway/doctor/scripted-probe.ts";
import { flushPromises } from "../../../test/support/time/fake-timers.ts";
import type { RequestClient } from "../upstream/client/fetch.ts";
import { UpstreamError } from "../upstream/upstream-call.ts";
import { inspect, inspectAll, readPubkeys } from "./inspection.ts";
import { Probe } from "./probe.ts";

describe("an inspected upstream", () => {
  it("reports version, head and finality", async () => {
    expect(await inspect(scriptedProbe(healthyScript))).toMatchObject({
      upstream: "a",
      version: "Example/v1.0.0",
      genesisValidatorsRoot: root("a"),
      chainSpec: { presetBase: "minimal", genesisTime: 1000, secondsPerSlot: 2, slotsPerEpoch: 8 },
      syncDistance: 0,
      isOptimistic: false,
      isExecutionOffline: false,
      head: { slot: 42, root: root("1") },
      justifiedEpoch: 4,
      finalized: { epoch: 3, root: root("2") },
      finalizedBlock: { slot: 24, root: root("2") },
      connectedPeers: 7,
      peerId: "16Uiu2HAm",
    });
  });

  it("is not syncing because of empty slots", async () => {
    const synced = { data: { sync_distance: "13", is_syncing: false } };
    const inspected = await inspect(scriptedProbe({ ...healthyScript, "/eth/v1/node/syncing": synced }));
    expect(inspected.syncDistance).toBe(0);
  });

  it("may omit new fields and return invalid ones", async () => {
    const inspected = await inspect(
      scriptedProbe({
        ...healthyScript,
        "/eth/v1/node/syncing": { data: { sync_distance: "5", is_syncing: true } },
        "/eth/v1/node/peer_count": { data: [] },
        "/eth/v1/beacon/headers/head": new Answer(500, "application/json", "{}"),
      }),
    );
    expect(inspected).toMatchObject({ syncDistance: 5, isOptimistic: false, isExecutionOffline: false });
    expect(inspected).toMatchObject({ head: undefined, connectedPeers: undefined, finalized: { epoch: 3 } });
    expect(inspected.failure).toBeUndefined();
    expect(inspected.shortcoming).toMatch(/^It does not report its head: .* HTTP status 500/);
    const mute = await inspect(
      scriptedProbe({ ...healthyScript, "/eth/v1/node/syncing": {}, "/eth/v1/config/spec": {} }),
    );
    expect(mute).toMatchObject({ chainSpec: undefined, finalizedBlock: { slot: 24 } });
    expect(mute.shortcoming).toMatch(/^It does not report its sync status: /);
  });

  it("has no peer or validator with an invalid id", async () => {
    const validators = ["0x12\u001b[2J", `0x${"ab".repeat(48)}`].map((pubkey, index) => ({
      index,
      validator: { pubkey },
    }));
    const probe = scriptedProbe({
      ...healthyScript,
      "/eth/v1/node/peers?state=connected": { data: [{ peer_id: "../..\u001b[2J" }] },
      "/eth/v1/beacon/states/head/validators?id=0&id=1&id=2&id=3&id=4&id=5": { data: validators },
    });
    expect((await inspect(probe)).peerId).toBeUndefined();
    expect([...(await readPubkeys(probe)).keys()]).toEqual([1]);
  });

  it("costs one timeout if it reports only its version", async () => {
    const unanswered = new Set<string>();
    let atOnce = 0;
    let mostAtOnce = 0;
    const headers = { "content-type": "application/json" };
    const request: RequestClient["request"] = async ({ url }, { signal } = {}) => {
      const body = Buffer.from('{"data":{"version":"Example"}}');
      if (url === "/eth/v1/node/version") return { upstream: "a", status: 200, headers, body };
      unanswered.add(url);
      atOnce++;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await once(signal!, "abort");
      atOnce--;
      throw new UpstreamError("a", "a did not answer.", { mayHaveArrived: true });
    };
    const inspected = await inspect(new Probe({ name: "a", request }, 20));
    const shortcoming = "It does not report its sync status: a did not answer /eth/v1/node/syncing within 0.02 s.";
    expect(inspected).toMatchObject({ version: "Example", shortcoming });
    // All but the first one.
    expect(mostAtOnce).toBeGreaterThanOrEqual(unanswered.size - 1);
  });

  it("may hang without delaying others, with bounded concurrency", async () => {
    const { promise: end, resolve: giveUp } = Promise.withResolvers<void>();
    const requests: string[] = [];
    const hanging = Array.from({ length: 40 }, (_, index) => {
      const name = `hanging${index}`;
      const request: RequestClient["request"] = async () => {
        requests.push(name);
        await end;
        throw new UpstreamError(name, `${name} did not answer.`, { mayHaveArrived: true });
      };
      return new Probe({ name, request }, 60_000);
    });
    const inspecting = inspectAll([...hanging, scriptedProbe(healthyScript, "healthy")]);
    await flushPromises();
    expect(requests).toHaveLength(32);
    giveUp();
    const inspected = await inspecting;
    expect(inspected.map(({ upstream }) => upstream)).toEqual([...hanging.map(({ upstream }) => upstream), "healthy"]);
    expect(inspected.at(-2)!.failure).toBe("hanging39 did not answer.");
    expect(inspected.at(-1)!.failure).toBeUndefined();
  });

  const page = new Answer(200, "text/html; charset=utf-8", "<html></html>");
  const troubles: [what: string, answer: Answer | undefined, trouble: RegExp][] = [
    ["unreachable", undefined, /refused the connection/],
    ["a web page", page, /not a beacon node: it answers with a web page/],
    ["protected by credentials", new Answer(401, "application/json", "{}"), /requires credentials .* --token-file/],
    ["another server", new Answer(404, "text/plain", "?"), /does not serve the Beacon API \(HTTP status 404\)/],
    ["another kind of server", new Answer(200, "application/json", "[1]"), /JSON of another shape/],
    ["a server of nothing", new Answer(204, "", ""), /not a beacon node: .*\(HTTP status 204\)/],
    [
      "a server that rejects requests",
      new Answer(400, "application/json", "{}"),
      /does not report its version \(HTTP status 400\)/,
    ],
    ["a broken server", new Answer(502, "", ""), /does not report its version \(HTTP status 502\)/],
  ];
  for (const [what, answer, trouble] of troubles) {
    it(`is ${what}`, async () => {
      const script = answer && { "/eth/v1/node/version": answer, "/eth/v1/beacon/genesis": answer };
      const inspected = await inspect(scriptedProbe(script));
      expect(inspected).toEqual({ upstream: "a", failure: expect.stringMatching(trouble) });
    });
  }
});
