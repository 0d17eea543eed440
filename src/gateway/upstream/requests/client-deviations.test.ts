import { describe, expect, it } from "vitest";
import { openPool } from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import { json, type ScriptedUpstream } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";

/** Answers like a client. docs/reference/beacon-clients.md has the sources. */
type Imitation = (server: ScriptedUpstream) => void;

const answers =
  (status: number, body: unknown): Imitation =>
  (server) => {
    server.handler = (_request, response) => json(response, body, status);
  };

const answersText =
  (status: number, text: string): Imitation =>
  (server) => {
    server.handler = (_request, response) => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
    };
  };

const GRANDINE_SYNCING = {
  code: 503,
  message: "beacon node is currently syncing and not serving requests on this endpoint",
};

/** Imitates a client as the preferred upstream "a", beside a conforming "b". */
async function setup(imitate: Imitation) {
  const { upstreams, health, server } = await openPool();
  health.set("b", { state: "behind" });
  imitate(server("a"));
  return { upstreams, server };
}

describe("a read is answered by another upstream if", () => {
  it.each<[string, Imitation]>([
    [
      "Lighthouse lacks the version of an operation",
      answers(400, { code: 400, message: "BAD_REQUEST: Unsupported endpoint version: v3", stacktraces: [] }),
    ],
    ["Lighthouse lacks an operation", answers(404, { code: 404, message: "NOT_FOUND", stacktraces: [] })],
    [
      "Lighthouse holds too few data columns",
      answers(400, { code: 400, message: "BAD_REQUEST: Insufficient data columns to reconstruct blobs" }),
    ],
    ["Teku has not implemented an operation", answers(501, { code: 501, message: "Not implemented" })],
    [
      "Teku lacks an operation",
      answers(404, { title: "Endpoint GET /eth/v1/x not found", status: 404, type: "endpointnotfound", details: {} }),
    ],
    ["Teku is syncing", answers(503, { code: 503, message: "Service unavailable" })],
    [
      "a client answers with 204, without content",
      (server) => {
        server.handler = (_request, response) => response.writeHead(204).end();
      },
    ],
    [
      "Prysm fails where it should say that a block is missing",
      answers(500, { code: 500, message: "Could not get block from block ID: rpc error: code = NotFound" }),
    ],
    ["Prysm lacks an operation", answersText(404, "404 page not found\n")],
    ["Nimbus has removed an operation", answers(410, { code: 410, message: "Gone", stacktraces: [] })],
    [
      "Grandine lacks an operation",
      (server) => {
        server.handler = (_request, response) => response.writeHead(404).end();
      },
    ],
    [
      "Grandine lacks the verb of an operation",
      (server) => {
        server.handler = (_request, response) => response.writeHead(405, { allow: "GET,HEAD" }).end();
      },
    ],
    ["Grandine has not implemented an operation", answers(501, { code: 501, message: "endpoint not implemented" })],
    ["Grandine is syncing", answers(503, GRANDINE_SYNCING)],
    ["Grandine does not track liveness", answers(500, { code: 500, message: "liveness tracking not enabled" })],
    ["Lodestar lacks an operation", answers(404, { statusCode: 404, message: "Route GET:/eth/v1/x not found" })],
    ["Lodestar fails for an invalid epoch", answers(500, { code: 500, message: "EPOCH_CONTEXT_ERROR" })],
  ])("%s", async (_title, imitate) => {
    const { upstreams } = await setup(imitate);
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b", status: 200 });
  });
});

it("an unknown object is confirmed by another upstream, whatever the wording", async () => {
  for (const message of [
    "NOT_FOUND: beacon block at slot 5",
    "Block not found",
    "Could not find requested block",
    "block not found",
  ]) {
    const { upstreams, server } = await setup(answers(404, { code: 404, message }));
    answers(404, { code: 404, message: "Not found" })(server("b"));
    expect(await upstreams.read(createCall())).toMatchObject({ status: 404 });
    expect(server("b").requests).toHaveLength(1);
  }
});

it("a submission fails over if a client is syncing or lacks the operation", async () => {
  for (const imitate of [
    answers(503, { code: 503, message: "Service unavailable" }),
    answers(400, { code: 400, message: "BAD_REQUEST: Unsupported endpoint version: v2", stacktraces: [] }),
    answers(503, GRANDINE_SYNCING),
    answersText(404, "404 page not found\n"),
    answers(501, { code: 501, message: "Not implemented" }),
  ]) {
    const { upstreams } = await setup(imitate);
    const submission = createCall({ body: Buffer.from("[]") });
    expect(await upstreams.submit(submission)).toMatchObject({ upstream: "b", status: 200 });
  }
});

it("a submission is accepted if Nimbus describes its success", async () => {
  for (const code of [200, "200"]) {
    const { upstreams } = await setup(answers(200, { code, message: "Block has been broadcast", stacktraces: [] }));
    const submission = createCall({ body: Buffer.from("[]") });
    expect(await upstreams.submit(submission)).toMatchObject({ upstream: "a", status: 200 });
  }
});

describe("an answer without Eth-Consensus-Version is returned as it is", () => {
  it("in JSON, as of Lighthouse", async () => {
    const { upstreams } = await setup(answers(200, { version: "capella", data: {} }));
    const { upstream, status, headers } = await upstreams.read(createCall());
    expect({ upstream, status }).toEqual({ upstream: "a", status: 200 });
    expect(headers).not.toHaveProperty("eth-consensus-version");
  });

  it("in SSZ, as of Lodestar", async () => {
    const { upstreams } = await setup((server) => {
      server.handler = (_request, response) => {
        response.writeHead(200, { "content-type": "application/octet-stream" }).end(Buffer.from([1, 2, 3]));
      };
    });
    const { upstream, headers, body } = await upstreams.read({ ...createCall(), format: "ssz" });
    expect({ upstream, body }).toEqual({ upstream: "a", body: Buffer.from([1, 2, 3]) });
    expect(headers).not.toHaveProperty("eth-consensus-version");
  });
});
