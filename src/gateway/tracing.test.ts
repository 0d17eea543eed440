import { expect, it } from "vitest";
import { currentUpstream, openGateway } from "../../test/support/gateway/gateway.ts";
import { json } from "../../test/support/gateway/upstream/scripted-upstream.ts";
import { traceOf } from "../server/request-trace.ts";

const CONTRACT = "/eth/v1/config/deposit_contract";
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

it("forwards the trace context to upstreams and logs where the time of a request went", async () => {
  let lines = "";
  const upstream = await currentUpstream("a");
  const { request, gateway } = await openGateway([upstream], {}, (written) => {
    lines += written;
  });
  const headers = { traceparent: TRACEPARENT, tracestate: "vendor=1" };
  await request(CONTRACT, { headers });
  await request(CONTRACT, { headers });
  await request("/eth/v1/config/fork_schedule", { headers: { traceparent: "invalid" } });
  const [zeros, span] = ["0".repeat(32), "b7ad6b7169203331"];
  const invalid = [`ff-${TRACE_ID}-${span}-01`, `00-${zeros}-${span}-01`, `00-${TRACE_ID}-${"0".repeat(16)}-01`];
  for (const traceparent of invalid) expect(traceOf({ traceparent })).toEqual({});
  upstream.handler = (_, response) => json(response, {}, 200);
  await request("/eth/v1/beacon/pool/voluntary_exits", { method: "POST", headers, body: "{}" });
  await gateway.close();
  const sent = (url: string) => upstream.requests.find((received) => received.url === url)?.headers;
  expect(sent(CONTRACT)).toMatchObject(headers);
  expect(sent("/eth/v1/config/fork_schedule")).not.toHaveProperty("traceparent");
  const [fetched, cached, untraced] = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const time = expect.any(Number);
  expect(fetched).toMatchObject({ trace: TRACE_ID, queueMillis: time, cacheMillis: time, upstreamMillis: time });
  expect(fetched.queueMillis + fetched.cacheMillis + fetched.upstreamMillis).toBeLessThanOrEqual(fetched.millis + 0.01);
  expect(cached).toMatchObject({ trace: TRACE_ID, queueMillis: time, cacheMillis: time });
  expect(cached).not.toHaveProperty("upstreamMillis");
  expect(untraced).not.toHaveProperty("trace");
});
