import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { flushPromises } from "../../../test/support/fake-timers.ts";
import { UpstreamError } from "../exchange.ts";
import type { Askable } from "../upstream/ask.ts";
import { examine, examineAll, readPubkeys } from "./examination.ts";
import { Probe } from "./probe.ts";
import { Answer, healthyScript, root, scriptedProbe } from "./scripted-probe.test-support.ts";

describe("an upstream that is examined", () => {
  it("tells what it is and how far it is", async () => {
    expect(await examine(scriptedProbe(healthyScript))).toMatchObject({
      upstream: "a",
      version: "Example/v1.0.0",
      genesisValidatorsRoot: root("a"),
      facts: { presetBase: "minimal", genesisTime: 1000, secondsPerSlot: 2, slotsPerEpoch: 8 },
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

  it("may count empty slots after its head, and is not syncing for that", async () => {
    const synced = { data: { sync_distance: "13", is_syncing: false } };
    const examined = await examine(scriptedProbe({ ...healthyScript, "/eth/v1/node/syncing": synced }));
    expect(examined.syncDistance).toBe(0);
  });

  it("may leave out what is younger than it, and answer nonsense to some of it", async () => {
    const examined = await examine(
      scriptedProbe({
        ...healthyScript,
        "/eth/v1/node/syncing": { data: { sync_distance: "5", is_syncing: true } },
        "/eth/v1/node/peer_count": { data: [] },
        "/eth/v1/beacon/headers/head": new Answer(500, "application/json", "{}"),
      }),
    );
    expect(examined).toMatchObject({ syncDistance: 5, isOptimistic: false, isExecutionOffline: false });
    expect(examined).toMatchObject({ head: undefined, connectedPeers: undefined, finalized: { epoch: 3 } });
    expect(examined.failure).toBeUndefined();
    expect(examined.shortcoming).toMatch(/^It does not tell its head: .* HTTP status 500/);
    const mute = await examine(
      scriptedProbe({ ...healthyScript, "/eth/v1/node/syncing": {}, "/eth/v1/config/spec": {} }),
    );
    expect(mute).toMatchObject({ facts: undefined, finalizedBlock: { slot: 24 } });
    expect(mute.shortcoming).toMatch(/^It does not tell whether it is syncing: /);
  });

  it("tells of no peer and no validator by what is no name of any", async () => {
    const validators = ["0x12\u001b[2J", `0x${"ab".repeat(48)}`].map((pubkey, index) => ({
      index,
      validator: { pubkey },
    }));
    const probe = scriptedProbe({
      ...healthyScript,
      "/eth/v1/node/peers?state=connected": { data: [{ peer_id: "../..\u001b[2J" }] },
      "/eth/v1/beacon/states/head/validators?id=0&id=1&id=2&id=3&id=4&id=5": { data: validators },
    });
    expect((await examine(probe)).peerId).toBeUndefined();
    expect([...(await readPubkeys(probe)).keys()]).toEqual([1]);
  });

  it("is not waited for again and again when it tells nothing but its version", async () => {
    const unanswered = new Set<string>();
    let atOnce = 0;
    let mostAtOnce = 0;
    const headers = { "content-type": "application/json" };
    const request: Askable["request"] = async ({ url }, { signal } = {}) => {
      const body = Buffer.from('{"data":{"version":"Example"}}');
      if (url === "/eth/v1/node/version") return { upstream: "a", status: 200, headers, body };
      unanswered.add(url);
      atOnce++;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await once(signal!, "abort");
      atOnce--;
      throw new UpstreamError("a", "a did not answer.", { mayHaveArrived: true });
    };
    const examined = await examine(new Probe({ name: "a", request }, 20));
    const shortcoming = "It does not tell whether it is syncing: a did not answer /eth/v1/node/syncing within 0.02 s.";
    expect(examined).toMatchObject({ version: "Example", shortcoming });
    // All but the first one.
    expect(mostAtOnce).toBeGreaterThanOrEqual(unanswered.size - 1);
  });

  it("hangs beside others, of whom not too many are asked at once, and is told in its place", async () => {
    const { promise: end, resolve: giveUp } = Promise.withResolvers<void>();
    const asked: string[] = [];
    const hanging = Array.from({ length: 40 }, (_, place) => {
      const name = `hanging${place}`;
      const request: Askable["request"] = async () => {
        asked.push(name);
        await end;
        throw new UpstreamError(name, `${name} did not answer.`, { mayHaveArrived: true });
      };
      return new Probe({ name, request }, 60_000);
    });
    const examining = examineAll([...hanging, scriptedProbe(healthyScript, "healthy")]);
    await flushPromises();
    expect(asked).toHaveLength(32);
    giveUp();
    const examined = await examining;
    expect(examined.map(({ upstream }) => upstream)).toEqual([...hanging.map(({ upstream }) => upstream), "healthy"]);
    expect(examined.at(-2)!.failure).toBe("hanging39 did not answer.");
    expect(examined.at(-1)!.failure).toBeUndefined();
  });

  const page = new Answer(200, "text/html; charset=utf-8", "<html></html>");
  const troubles: [what: string, answer: Answer | undefined, trouble: RegExp][] = [
    ["nobody", undefined, /refused the connection/],
    ["a web page", page, /no beacon node: what answers there is a web page/],
    [
      "somebody who wants credentials",
      new Answer(401, "application/json", "{}"),
      /without credentials .* --token-file/,
    ],
    ["another server", new Answer(404, "text/plain", "?"), /standard REST API is not there \(HTTP status 404\)/],
    ["another kind of server", new Answer(200, "application/json", "[1]"), /JSON of another form/],
    ["a server of nothing", new Answer(204, "", ""), /no beacon node: .*\(HTTP status 204\)/],
    ["somebody who refuses", new Answer(400, "application/json", "{}"), /does not say who it is \(HTTP status 400\)/],
    ["a broken server", new Answer(502, "", ""), /does not say who it is \(HTTP status 502\)/],
  ];
  for (const [what, answer, trouble] of troubles) {
    it(`is ${what}`, async () => {
      const script = answer && { "/eth/v1/node/version": answer, "/eth/v1/beacon/genesis": answer };
      const examined = await examine(scriptedProbe(script));
      expect(examined).toEqual({ upstream: "a", failure: expect.stringMatching(trouble) });
    });
  }
});
