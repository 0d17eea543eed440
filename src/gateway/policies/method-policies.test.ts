import { describe, expect, it } from "vitest";
import { currentUpstream, openGateway } from "../../../test/support/gateway/gateway.ts";
import { json } from "../../../test/support/gateway/upstream/scripted-upstream.ts";
import type { MethodPolicySettings } from "../settings.ts";

const ROOT = "/eth/v1/beacon/states/head/root";
const CONTRACT = "/eth/v1/config/deposit_contract";

async function setup(policies: MethodPolicySettings[], changes = {}) {
  const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
  const upstreams = [a.options, { ...b.options, tags: ["archive"] }];
  return { a, b, ...(await openGateway([a, b], { upstreams, policies, ...changes })) };
}

describe("a method policy", () => {
  it("selects upstreams by tag", async () => {
    const { request, b } = await setup([{ pattern: "get_v1_beacon_states_*", tags: ["archive"] }], { memoryBytes: 0 });
    for (let read = 0; read < 4; read++) expect((await request(ROOT)).headers.get("Fanal-Upstream")).toBe("b");
    const other = await Promise.all(Array.from({ length: 8 }, () => request("/eth/v1/beacon/pool/voluntary_exits")));
    expect(new Set(other.map(({ headers }) => headers.get("Fanal-Upstream")))).toEqual(new Set(["a", "b"]));
    await b.stop();
    expect((await request(ROOT)).status).toBe(503);
  });

  it("requires a quorum for a method that has none by default", async () => {
    const { request } = await setup([{ pattern: "get_v1_config_deposit_contract", quorum: 2 }]);
    const response = await request(CONTRACT);
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch(/Upstreams (a and b|b and a) disagree/);
  });

  it("disables caching", async () => {
    const { request, a, b } = await setup([{ pattern: "get_v1_config_deposit_contract", cacheSeconds: 0 }]);
    for (let read = 0; read < 3; read++) await request(CONTRACT);
    expect([...a.questions, ...b.questions].filter((url) => url === CONTRACT)).toHaveLength(3);
    for (let read = 0; read < 3; read++) await request("/eth/v1/config/fork_schedule");
    expect([...a.questions, ...b.questions].filter((url) => url.endsWith("fork_schedule"))).toHaveLength(1);
  });

  it("limits the time of a read", async () => {
    const { request, a, b } = await setup([{ pattern: "get_v1_config_*", timeoutMillis: 50 }]);
    for (const upstream of [a, b]) upstream.handler = () => {};
    const response = await request(CONTRACT);
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch(
      /No upstream answered get_v1_config_deposit_contract within 0.05 s. Waiting for [ab]( and [ab])?\./,
    );
  });

  it("sets the delay of a hedge", async () => {
    const policies = [{ pattern: "get_v1_config_*", hedgeDelayMillis: 5 }];
    const { request, a, b } = await setup(policies, { hedgeDelayMillis: 60_000 });
    let requests = 0;
    // Only the first upstream hangs.
    for (const upstream of [a, b]) {
      upstream.handler = ({ url }, response) => {
        if (url === CONTRACT && requests++ > 0) json(response, { data: {} });
      };
    }
    expect((await request(CONTRACT)).status).toBe(200);
    expect(requests).toBe(2);
  });
});

it("sends no requests to an upstream beyond its budget", async () => {
  const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
  const upstreams = [
    { ...a.options, budget: { requestsPerDay: 3 } },
    { ...b.options, tier: 1 },
  ];
  const { request } = await openGateway([a, b], { upstreams, memoryBytes: 0 });
  const answeredBy: (string | null)[] = [];
  for (let read = 0; read < 6; read++) {
    answeredBy.push((await request("/eth/v1/beacon/pool/voluntary_exits")).headers.get("Fanal-Upstream"));
  }
  expect(answeredBy).toEqual(["a", "a", "a", "b", "b", "b"]);
});
