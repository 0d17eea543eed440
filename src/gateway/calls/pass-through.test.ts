import { describe, expect, it } from "vitest";
import { bodyOf, ROOT, ScriptedGateway } from "../../../test/support/gateway/calls/scripted-gateway.ts";

describe("a request", () => {
  it("is forwarded with query, fork and SSZ body, and nothing else", async () => {
    const gateway = new ScriptedGateway(() => ({ status: 202 }));
    const path = "/eth/v2/beacon/blocks";
    const headers = {
      "content-type": "application/octet-stream",
      "eth-consensus-version": "fulu",
      authorization: "Bearer secret",
      cookie: "a=b",
    };
    const body = Buffer.from([1, 2, 3]);
    const answer = await gateway.request(path, `${path}?broadcast_validation=consensus`, { headers, body });
    expect(answer).toEqual({ status: 202, headers: { "Fanal-Upstream": "one" } });
    expect(gateway.asked[0]).toMatchObject({ params: { broadcast_validation: "consensus" } });
    expect(gateway.asked[0]!.request).toEqual({
      verb: "POST",
      url: `${path}?broadcast_validation=consensus`,
      headers: {
        accept: "application/json",
        "content-type": "application/octet-stream",
        "eth-consensus-version": "fulu",
      },
      body,
    });
  });

  it("gets bytes in the requested format, with standard headers only", async () => {
    const headers = {
      "content-type": "application/octet-stream",
      "eth-consensus-version": "fulu",
      "cache-control": "public, max-age=31536000, immutable",
      etag: '"abc"',
      "set-cookie": "a=b",
    };
    const gateway = new ScriptedGateway(() => ({ headers, body: "\u0001\u0002" }));
    const path = "/eth/v2/debug/beacon/states/{state_id}";
    const url = `/eth/v2/debug/beacon/states/${ROOT}`;
    const answer = await gateway.request(path, url, { headers: { accept: "application/octet-stream" } });
    expect(answer).toEqual({
      status: 200,
      headers: { "Fanal-Upstream": "one", "Eth-Consensus-Version": "fulu" },
      content: { format: "ssz", parts: [Buffer.from([1, 2])] },
      cacheLifetime: "forever",
      tag: '"abc"',
    });
    expect(gateway.asked[0]).toMatchObject({ format: "ssz", params: { state_id: ROOT } });
  });

  it("gets the Retry-After of a busy upstream", async () => {
    const path = "/eth/v1/beacon/genesis";
    for (const status of [429, 503]) {
      const busy = (value: string) =>
        new ScriptedGateway(() => ({ status, body: { message: "Busy" }, headers: { "retry-after": value } }));
      expect((await busy("7").request(path, path)).headers).toMatchObject({ "Retry-After": "7" });
      expect((await busy("soon").request(path, path)).headers).not.toHaveProperty("Retry-After");
    }
  });

  it("gets errors as JSON, even those of a proxy", async () => {
    const path = "/eth/v1/beacon/genesis";
    const own = { code: 404, message: "Chain genesis info is not yet known", stacktraces: [] };
    const refused = await new ScriptedGateway(() => ({ status: 404, body: own })).request(path, path);
    expect(refused.status).toBe(404);
    expect(JSON.parse(bodyOf(refused))).toEqual(own);
    const failed = await new ScriptedGateway(() => ({ status: 502, body: "<html>" })).request(path, path);
    expect(JSON.parse(bodyOf(failed))).toEqual({
      code: 502,
      message: "Upstream one answered with HTTP status 502.",
    });
    const inText = { status: 400, headers: { "content-type": "text/plain; charset=utf-8" }, body: "no such epoch\n" };
    const answer = await new ScriptedGateway(() => inText).request(path, path);
    expect(JSON.parse(bodyOf(answer))).toEqual({ code: 400, message: "no such epoch" });
  });

  it("that submits gets an error with an unknown outcome after a proxy failure", async () => {
    const path = "/eth/v1/beacon/pool/voluntary_exits";
    const gateway = new ScriptedGateway(() => ({ status: 504, body: "<html>" }));
    const headers = { "content-type": "application/json" };
    expect(JSON.parse(bodyOf(await gateway.request(path, path, { headers, body: Buffer.from("{}") })))).toEqual({
      code: 504,
      message:
        "Upstream one answered with HTTP status 504. It is unknown whether it accepted the submission, which is not retried.",
    });
  });

  it("beyond the rate limit of an upstream says whose limit that is", async () => {
    const path = "/eth/v1/beacon/pool/voluntary_exits";
    const gateway = new ScriptedGateway(() => ({ status: 429, body: { code: 429, message: "Slow down" } }));
    const headers = { "content-type": "application/json" };
    const answer = await gateway.request(path, path, { headers, body: Buffer.from("{}") });
    expect(answer.status).toBe(429);
    expect(JSON.parse(bodyOf(answer))).toEqual({
      code: 429,
      message:
        "Upstream one answered with HTTP status 429: Slow down. The limit is that of the upstream, not of the gateway.",
    });
  });

  it("falls back to JSON if SSZ is unsupported and JSON accepted", async () => {
    const path = "/eth/v1/beacon/states/{state_id}/validator_balances";
    const url = "/eth/v1/beacon/states/head/validator_balances";
    const gateway = new ScriptedGateway(({ format }) =>
      format === "ssz" ? { status: 406, body: { code: 406, message: "no" } } : { body: { data: [] } },
    );
    const answered = (accept: string) => gateway.request(path, url, { headers: { accept } });
    expect((await answered("application/octet-stream")).status).toBe(406);
    expect(gateway.asked).toHaveLength(1);
    const answer = await answered("application/octet-stream;q=1,application/json;q=0.9");
    expect(answer).toMatchObject({ status: 200, content: { format: "json" } });
    expect(gateway.asked[2]!.request.headers).toEqual({ accept: "application/json" });
  });

  it("is forwarded to the matched path, whatever its URL contains", async () => {
    const gateway = new ScriptedGateway();
    const url = "/eth/v1/beacon/states/head/root";
    for (const sent of [`${url}#/../../../../../admin`, `http://10.0.0.1${url}`, url.replace("head", "%68ead")]) {
      await gateway.request("/eth/v1/beacon/states/{state_id}/root", url, { sent });
    }
    await gateway.request("/fanal/v1/eth1/chain", "/fanal/v1/eth1/chain", { sent: "/fanal/v1/eth1/chain#/.." });
    expect(gateway.requests).toEqual([...Array(3).fill(`GET ${url}`), "GET /nimbus/v1/eth1/chain"]);
  });

  it("has only standard parameters", async () => {
    const gateway = new ScriptedGateway();
    await gateway.request("/eth/v1/node/syncing", "/eth/v1/node/syncing?state_id=0&block_id=0");
    await gateway.request(
      "/eth/v1/beacon/states/{state_id}/validators",
      "/eth/v1/beacon/states/head/validators?state_id=0&id=1&id=2",
    );
    expect(gateway.asked.map(({ params }) => params)).toEqual([{}, { state_id: "head", id: "1,2" }]);
  });

  it("with an unsafe path parameter is rejected", async () => {
    const gateway = new ScriptedGateway();
    const path = "/eth/v1/beacon/states/{state_id}/root";
    for (const id of ["..%2F..", "%2e%2e", "a%00", "a%3Fb"]) {
      await expect(gateway.request(path, `/eth/v1/beacon/states/${id}/root`)).rejects.toMatchObject({
        kind: "invalid-params",
      });
    }
    expect(gateway.asked).toEqual([]);
  });
});
