import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";
import { checkGatewayFile } from "../../gateway/check.ts";

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
      '  upstreams[0].url must be a URL that begins with http:// or https://, got "ftp://…@a"',
      '  upstreams[1].tier must be a whole number from 0 to 1000, got "x"',
      "  upstreams[1].wieght is unknown; did you mean weight?",
      "  upstreams[1].headers.Host is set by the gateway; remove it",
      '  clients[0].name must be 1 to 100 letters, digits and . : _ -, got "a b"',
      '  clients[0].classes[0] must be read, submit, debug, admin or dev, got "all"',
      '  clients[1].budget.units-per-day must be a whole number of at least 1, got "0"',
      "  clients[1].key-sha256 is missing; only one client may have none, clients[0]",
      '  methods.getChainHead.quorum must be a whole number from 1 to 1000, got "0"',
      "  methods has a name that is not a method name, in which * stands for any characters; " +
        "write { getChainHead: { quorum: 2 } }, with a space after the colon",
    ]);
  });

  it("have no headers that break requests", () => {
    const names = ["Transfer-Encoding", "Expect", "Keep-Alive", "Upgrade", "Accept-Encoding", "TE", "Trailer"];
    const headers = names.map((name) => `${name}: a`).join(", ");
    const complaint = refusal(() => settingsOf("h.yaml", `upstreams: [{ url: http://a, headers: { ${headers} } }]`));
    for (const name of names) expect(complaint).toContain(`upstreams[0].headers.${name} is set by the gateway`);
  });

  it("name clients and keys once, and upstreams by valid URLs without showing credentials", () => {
    const yaml = `
upstreams: [{ url: "ftp://me:secret@a?key=secret" }]
clients: [{ name: a, key-sha256: ${HASH} }, { name: a, key-sha256: ${HASH} }]
`;
    const [, url, ...others] = refusal(() => settingsOf("d.yaml", yaml)).split("\n");
    expect(url).toContain('upstreams[0].url must be a URL that begins with http:// or https://, got "ftp://…@a?…"');
    expect(others).toEqual([
      "  clients[1].name is the same as of clients[0]; give it another one",
      "  clients[1].key-sha256 is the same as of clients[0]; remove one of them",
    ]);
    const both = "upstream: http://a\nupstreams: [{ url: http://b }]";
    expect(refusal(() => settingsOf("e.yaml", both))).toContain("upstreams lists upstreams, and so does upstream");
  });

  it("require enough upstreams for each policy", () => {
    const yaml = "upstreams: [{ url: http://a }]\nmethods: { getChainHead: { tags: [archive] } }";
    expect(refusal(() => settingsOf("f.yaml", yaml))).toBe(
      "The config file f.yaml is not valid: methods.getChainHead.tags selects no upstream: none has the tag archive; " +
        "add it to an upstream, as in { url: …, tags: [archive] }.",
    );
  });
});

describe("fanal gateway check", () => {
  const check = (name: string, text: string) =>
    checkGatewayFile(file(name, text), { flagTexts: new Map(), environment: {}, workingDirectory: folder });

  it("summarizes a valid file", async () => {
    const yaml = "upstreams: [{ url: http://a }, { url: http://b }]\nclients: [{ name: a }]\nmethods: { get_*: {} }";
    expect(await check("ok.yaml", yaml)).toBe("ok.yaml is valid: 2 upstreams, 1 client, 1 method policy\n");
  });

  it("rejects flags and patterns that match nothing", async () => {
    await expect(check("x.yaml", "upstreams: [{ url: http://a }]\nqurom: 1")).rejects.toThrow("did you mean quorum?");
    const yaml = "upstreams: [{ url: http://a }]\nmethods: { getChainHaed: {} }";
    await expect(check("y.yaml", yaml)).rejects.toThrow(
      "methods.getChainHaed matches no method; did you mean getChainHead?",
    );
  });

  const problemsOf = async (name: string, text: string) => {
    const error: Error = await check(name, text).then(
      () => new Error(),
      (reason) => reason,
    );
    const { message } = error;
    const single = message.replace(/^The config file \S+ is not valid: /, "").replace(/\.$/, "");
    return message.includes("\n") ? message.split("\n  ").slice(1) : [single];
  };

  it("lists all problems of all kinds in the order of the file", async () => {
    file("none.token", "a");
    const yaml = `
qurom: 3
broadcast: 9
cache-prefix: a
rpc-port: 5052
rest-address: 0.0.0.0
network: hodi
upstreams:
  - { url: http://a, name: x, tags: [archive], headers: X-Team }
  - { url: http://a/, name: x, token-file: gone.token }
clients:
  - name: wallet
    methods: [getChainHead, getChainHaed]
methods:
  get_v2_debug_*: { tags: [archve], timeout-seconds: 30s }
  getChainHead: { quorum: 3 }
`;
    expect(await problemsOf("all.yaml", yaml)).toEqual([
      "qurom is unknown; did you mean quorum?",
      "broadcast 9 exceeds the number of upstreams, 2; lower it or add upstreams",
      "cache-prefix requires cache, the URL of Redis or Valkey",
      "rpc-port and rest-port both use port 5052 of 127.0.0.1. Give each a different port",
      expect.stringMatching(/^rest-address 0\.0\.0\.0 exposes the server .* rest-token-file FILE/),
      expect.stringMatching(/^network "hodi" is neither .*Did you mean hoodi\?$/),
      "upstreams[0].headers must be a map, as in { X-Team: staking }, got a text",
      "upstreams[1].url is the same as of upstreams[0]; remove one of them",
      "upstreams[1].name is the same as of upstreams[0]; give it another one",
      expect.stringMatching(/^upstreams\[1\]\.token-file: the token file .*gone\.token cannot be read: ENOENT/),
      'clients[0].methods[1] "getChainHaed" matches no method; did you mean getChainHead?',
      "methods.get_v2_debug_*.tags selects no upstream: none has the tag archve; did you mean archive?",
      'methods.get_v2_debug_*.timeout-seconds must be a whole number of seconds from 1 to 3600, got "30s"',
      "methods.getChainHead.quorum must be at most the number of upstreams, 2, got 3; lower it or add upstreams",
    ]);
  });

  const UPSTREAM = "upstreams: [{ url: http://a }]";
  it.each([
    ["upstreams: http://me:secret@a", "upstreams must be a list, as in [{ url: http://127.0.0.1:5052 }], got a text"],
    ["upstreams: [http://a]", "upstreams[0] must be a map, as in { url: http://127.0.0.1:5052 }, got a text"],
    ["upstreams: [{ name: a }]", "upstreams[0].url is missing; write it as in { url: http://127.0.0.1:5052 }"],
    ["upstreams: [{ ulr: http://a }]", "upstreams[0].ulr is unknown; did you mean url?"],
    ["upstreams: [{ url: http://a, tags: archive }]", "upstreams[0].tags must be a list, as in [archive], got a text"],
    ["upstreams: []", "upstreams is missing; write it as in upstreams: [{ url: http://127.0.0.1:5052 }]"],
    ["upstrems: [{ url: http://a }]\nquorum: 2", "upstrems is unknown; did you mean upstreams?"],
    ["upstream: [{ url: http://a }]", "upstream[0] must be a text, got a map"],
    [`${UPSTREAM}\nclients:`, "clients must be a list, as in [{ name: wallet, key-sha256: … }], got an empty value"],
    [
      `${UPSTREAM}\nclients: [{ name: a, classes: [] }]`,
      "clients[0].classes must not be empty; remove it for read and submit, or write [read]",
    ],
    [`${UPSTREAM}\nmethods: { getChainHead: 2 }`, "methods.getChainHead must be a map, as in { quorum: 2 }, got 2"],
    [
      `${UPSTREAM}\ncache: http://a\ncache-seconds: 5`,
      /^cache must be a URL that begins with redis:[^\n]*, got "http:\/\/a"$/,
    ],
    [`${UPSTREAM}\ncache: redis://a:99999`, 'cache is not a URL: its host or port is invalid, got "redis://a:99999"'],
    [
      `${UPSTREAM}\nclients: []`,
      "clients must not be empty; remove it for access without keys, or write [{ name: wallet, key-sha256: … }]",
    ],
    [`${UPSTREAM}\nrest: false\nrpc: false`, /^rpc and rest are both off/],
    [
      `${UPSTREAM}\nrpc-address: 0.0.0.0\nclients: [{ name: a, key-sha265: a }]`,
      /^clients\[0\]\.key-sha265 is unknown/,
    ],
    [
      "upstreams: [{ url: http://a, tgas: [archive] }, { url: http://a, weight: 1 }]\nmethods: { get_*: { tags: [archive] } }",
      [
        "upstreams[0].tgas is unknown; did you mean tags?",
        "upstreams[1].url is the same as of upstreams[0]; remove one of them",
      ],
    ],
  ])("reports no consequences of the problem in %j", async (yaml, expected) => {
    const problems = await problemsOf("single.yaml", yaml);
    if (Array.isArray(expected)) expect(problems).toEqual(expected);
    else if (typeof expected === "string") expect(problems).toEqual([expected]);
    else expect(problems).toEqual([expect.stringMatching(expected)]);
  });

  it("compares headers without regard to case once all of them are valid", async () => {
    const upstream = 'url: http://a, headers: { X-A: "1", x-a: "2", Host: a, X-B: "" }, header-files: { X-A: a.key }';
    file("a.key", "the-key");
    expect(await problemsOf("headers.yaml", `upstreams: [{ ${upstream} }]`)).toEqual([
      "upstreams[0].headers.x-a is given twice, in upper and lower case; remove one",
      "upstreams[0].headers.Host is set by the gateway; remove it",
      "upstreams[0].headers has a name without a value; write { X-Team: staking }, with a space after the colon",
      "upstreams[0].header-files has the header x-a, and so has headers; remove one of them",
    ]);
  });

  it("checks a setting that is given beside a misspelt one", async () => {
    const yaml = `${UPSTREAM}\nqurom: 3\nquorum: 9\nclients: [{ name: a }, { name: b, key-sha265: a, nmae: c }]`;
    expect(await problemsOf("beside.yaml", yaml)).toEqual([
      "qurom is unknown; did you mean quorum?",
      "quorum 9 exceeds the number of upstreams, 1; lower it or add upstreams",
      "clients[1].key-sha265 is unknown; did you mean key-sha256?",
      "clients[1].nmae is unknown; did you mean name?",
    ]);
  });

  it("shows neither secrets nor keys that hold them", async () => {
    const yaml = `
upstreams: [{ "http://me:SECRET@a": 1, headers: { X-A: "SECRET\\u0000" } }]
clients: [{ name: a, key-sha256: SECRET }]
`;
    const problems = await problemsOf("secret.yaml", yaml);
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).not.toContain("SECRET");
  });

  const NO_HEADER_NAME =
    "that is not a header name, such as X-Api-Key; write { X-Team: staking }, with a space after the colon";
  it.each([
    ["headers: { X-Api-Key:SECRET }", `upstreams[0].headers has a name ${NO_HEADER_NAME}`],
    ["headers: { 'X-Api-Key: SECRET' }", `upstreams[0].headers has a name ${NO_HEADER_NAME}`],
    [
      "headers: { SECRET }",
      "upstreams[0].headers has a name without a value; write { X-Team: staking }, with a space after the colon",
    ],
    [
      "header-files: { X-Api-Key:SECRET, X-B:SECRET }",
      `upstreams[0].header-files has a name ${NO_HEADER_NAME}`.replace(
        "X-Team: staking",
        "X-Api-Key: /etc/fanal/rented.key",
      ),
    ],
    ["headers: { X-Api-Key: *SECRET }", /^alias without anchor at line 1, column \d+; quote texts that begin with \*/],
    ["headers: { X-Api-Key: !SECRET abc }", /^tag resolve failed at line 1, column \d+; quote texts/],
    [
      "token-file:SECRET",
      "upstreams[0] has a key that is not a setting; write { url: http://127.0.0.1:5052 }, with a space after the colon",
    ],
  ])("does not show secrets in %j", async (setting, expected) => {
    const problems = await problemsOf("hidden.yaml", `upstreams: [{ url: "http://a", ${setting} }]`);
    expect(problems).toEqual([typeof expected === "string" ? expected : expect.stringMatching(expected)]);
  });

  it.each([
    ["upstreams: [{ url: htps://x/v1/SECRET }]", '"htps://x/…"'],
    ["upstreams: [{ url: x.example/v1/SECRET }]", '"x.example/…"'],
    ["upstreams: [{ url: 'https:/x/v1/SEC,SECRET' }]", '"https:/x/…"'],
    ["upstream: http://h tier=SECRET", '"http://h …"'],
    ["upstream: http://h SECRET==", '"http://h …"'],
    [`${UPSTREAM}\ncache: http://x/SECRET`, '"http://x/…"'],
    [`${UPSTREAM}\nclients: [{ name: a, key-sha256:SECRET }]`, "clients[0] has a key that is not a setting"],
    [`{ ${UPSTREAM}, cache:SECRET: 1 }`, "it has a key that is not a setting"],
  ])("shows only scheme and host of URLs and no unknown texts of %j", async (yaml, expected) => {
    const problems = await problemsOf("url.yaml", yaml);
    expect(problems).toEqual([expect.stringContaining(expected)]);
    expect(problems[0]).not.toMatch(/SEC/);
  });

  it("escapes control characters", async () => {
    const yaml = `${UPSTREAM}\nclients: [{ name: "a\\e[2J\\nb" }]\nrpc-port: "\\e"`;
    const problems = await problemsOf("control.yaml", yaml);
    expect(problems).toEqual([expect.stringContaining('"a\\u001b[2J\\u000ab"'), expect.stringContaining('"\\u001b"')]);
  });

  it("lists at most 50 problems, and counts the others", async () => {
    const many = Array.from({ length: 600 }, (_, index) => `{ url: "http://a${index}", tier: x, qqqq: 1 }`);
    const problems = await problemsOf("many.yaml", `upstreams: [${many.join(", ")}]`);
    expect(problems).toHaveLength(51);
    expect(problems[0]).toMatch(/^upstreams\[0\]\.tier/);
    expect(problems[50]).toBe("and 1,150 more");
  });

  it("reports nesting that is too deep", async () => {
    expect(await problemsOf("deep.yaml", `upstreams: ${"[".repeat(5000)}`)).toEqual(["it is nested too deeply"]);
  });

  it("accepts numbers for flags that take a count or a word", async () => {
    const toml = '[[upstreams]]\nurl = "http://a"\n[[upstreams]]\nurl = "http://b"';
    expect(await check("count.toml", `workers = 2\nbroadcast = 2\n${toml}`)).toContain("is valid");
    expect(await problemsOf("count2.toml", `workers = true\n${toml}`)).toEqual([
      "workers must be a number or a text, got true",
    ]);
  });
});
