import { describe, expect, it } from "vitest";
import { checkGatewayFile } from "../../gateway/check.ts";
import { refusal, settingsInTemporaryDirectory } from "../settings.test-support.ts";

const { folder, gateway, file } = settingsInTemporaryDirectory();
const HASH = "ab".repeat(32);

const settingsOf = (name: string, text: string, flags: string[] = []) =>
  gateway(["--config-file", file(name, text), ...flags]).gateway;

describe("sections of a gateway's config file", () => {
  it("describe upstreams, clients and method policies in YAML", () => {
    file("rented.token", "the-token\n");
    file("rented.key", "the-key\n");
    const yaml = `
quorum: 2
upstreams:
  - url: http://a:5052
    weight: 2
    tags: [archive]
  - url: https://b.example/path/
    name: rented
    tier: 1
    token-file: rented.token
    headers: { X-Team: staking }
    header-files: { X-Api-Key: rented.key }
    budget: { requests-per-second: 50, requests-per-day: 100000 }
clients:
  - name: wallet
    key-sha256: ${HASH.toUpperCase()}
    methods: [getChainHead, get_v1_beacon_*]
    classes: [read]
    budget: { requests-per-second: 10, units-per-day: 1000 }
  - name: public
methods:
  get_v2_debug_*: { tags: [archive], timeout-seconds: 30, units: 50 }
  getChainHead: { quorum: 2, hedge-after: 20, cache-seconds: 0 }
`;
    expect(settingsOf("all.yaml", yaml)).toMatchObject({
      quorum: 2,
      upstreams: [
        { name: "a:5052", url: "http://a:5052", tier: 0, weight: 2, tags: ["archive"] },
        {
          name: "rented",
          url: "https://b.example/path",
          tier: 1,
          authorization: "Bearer the-token",
          headers: { "x-team": "staking", "x-api-key": "the-key" },
          budget: { requestsPerSecond: 50, requestsPerDay: 100_000 },
        },
      ],
      clients: [
        {
          name: "wallet",
          keyHash: HASH,
          methods: ["getChainHead", "get_v1_beacon_*"],
          classes: ["read"],
          budget: { requestsPerSecond: 10, requestsPerDay: undefined, unitsPerSecond: undefined, unitsPerDay: 1000 },
        },
        { name: "public", keyHash: undefined, classes: ["read", "submit"], budget: {} },
      ],
      policies: [
        { pattern: "get_v2_debug_*", tags: ["archive"], timeoutMillis: 30_000, units: 50 },
        { pattern: "getChainHead", quorum: 2, hedgeDelayMillis: 20, cacheSeconds: 0 },
      ],
    });
  });

  it("may be written in TOML", () => {
    const toml = `[[upstreams]]\nurl = "http://a"\nweight = 3\n[methods."get_*"]\ncache-seconds = 1\n`;
    expect(settingsOf("a.toml", toml)).toMatchObject({
      upstreams: [{ name: "a", weight: 3 }],
      policies: [{ pattern: "get_*", cacheSeconds: 1 }],
    });
  });

  it("yield to --upstream", () => {
    const yaml = "upstreams: [{ url: http://a }]";
    expect(settingsOf("b.yaml", yaml, ["--upstream", "http://b"]).upstreams).toMatchObject([{ url: "http://b" }]);
  });

  it("are rejected with the path of every problem", () => {
    const yaml = `
upstreams: [{ url: "ftp://me:secret@a" }, { url: http://b, tier: x, wieght: 1, headers: { Host: a } }]
clients: [{ name: a b, classes: [all] }, { name: c, budget: { units-per-day: 0 } }]
methods: { "a b": {}, getChainHead: { quorum: 0 } }
`;
    expect(
      refusal(() => settingsOf("c.yaml", yaml))
        .split("\n")
        .slice(1),
    ).toEqual([
      "  upstreams[1].tier: must be a whole number from 0 to 1000",
      "  upstreams[1].headers.Host: the key is set by the gateway; for Authorization use token-file",
      '  upstreams[1]: unknown key "wieght"',
      "  clients[0].name: must have 1 to 100 letters, digits and . : _ -",
      '  clients[0].classes[0]: expected one of "read"|"submit"|"debug"|"admin"|"dev"',
      "  clients[1].budget.units-per-day: must be a whole number of at least 1",
      "  methods.a b: the key must be a method name, in which * stands for any characters",
      "  methods.getChainHead.quorum: must be a whole number from 1 to 1000",
    ]);
  });

  it("have no headers that break requests", () => {
    const names = ["Transfer-Encoding", "Expect", "Keep-Alive", "Upgrade", "Accept-Encoding", "TE", "Trailer"];
    const headers = names.map((name) => `${name}: a`).join(", ");
    const complaint = refusal(() => settingsOf("h.yaml", `upstreams: [{ url: http://a, headers: { ${headers} } }]`));
    for (const name of names)
      expect(complaint).toContain(`upstreams[0].headers.${name}: the key is set by the gateway`);
  });

  it("name clients and keys once, and upstreams by valid URLs without showing credentials", () => {
    const yaml = `
upstreams: [{ url: "ftp://me:secret@a?key=secret" }]
clients: [{ name: a, key-sha256: ${HASH} }, { name: a, key-sha256: ${HASH} }]
`;
    const [, url, ...others] = refusal(() => settingsOf("d.yaml", yaml)).split("\n");
    expect(url).toContain("upstreams[0].url: ftp://…@a?… is not accepted");
    expect(others).toEqual([
      "  clients[1].name: the same as of clients[0]",
      "  clients[1].key-sha256: the same as of clients[0]",
    ]);
    const both = "upstream: http://a\nupstreams: [{ url: http://b }]";
    expect(refusal(() => settingsOf("e.yaml", both))).toContain("give one of them");
  });

  it("require enough upstreams for each policy", () => {
    const yaml = "upstreams: [{ url: http://a }]\nmethods: { getChainHead: { tags: [archive] } }";
    expect(refusal(() => settingsOf("f.yaml", yaml))).toBe(
      'The policy "getChainHead" needs at least 1 of the upstreams with the tag archive, and there are 0.',
    );
  });
});

describe("fanal gateway check", () => {
  const check = (name: string, text: string) =>
    checkGatewayFile(file(name, text), { given: new Map(), environment: {}, workingDirectory: folder });

  it("summarizes a valid file", async () => {
    const yaml = "upstreams: [{ url: http://a }, { url: http://b }]\nclients: [{ name: a }]\nmethods: { get_*: {} }";
    expect(await check("ok.yaml", yaml)).toBe("ok.yaml is valid: 2 upstreams, 1 client, 1 method policy\n");
  });

  it("rejects flags and patterns that match nothing", async () => {
    await expect(check("x.yaml", "upstreams: [{ url: http://a }]\nqurom: 1")).rejects.toThrow('Did you mean "quorum"');
    const yaml = "upstreams: [{ url: http://a }]\nmethods: { getChainHaed: {} }";
    await expect(check("y.yaml", yaml)).rejects.toThrow('No method matches "getChainHaed"');
  });
});
