import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_FORKS } from "../../dev/forks.ts";
import { DEFAULT_BUILDER_OPTIONS } from "../../node/builder-options.ts";
import { DEFAULT_SERVER_LIMITS } from "../../node/server-limits.ts";
import { optionsInTemporaryDirectory, refusal } from "./options.test-support.ts";

const { folder, dev, node, file } = optionsInTemporaryDirectory();

describe("defaults", () => {
  it("of dev", () => {
    expect(dev()).toEqual({
      rpc: false,
      rpcPort: 9190,
      rpcAddress: "127.0.0.1",
      rpcAccess: { vhosts: [], allowOrigin: [], api: undefined, tokenFile: undefined },
      rest: false,
      restPort: 5052,
      restAddress: "127.0.0.1",
      restAccess: { vhosts: [], allowOrigin: [], api: undefined, tokenFile: undefined },
      metrics: false,
      metricsPort: 8008,
      web: true,
      metricsAddress: "127.0.0.1",
      dataDir: join(folder, ".fanal/dev"),
      limits: DEFAULT_SERVER_LIMITS,
      logLevel: "INFO",
      logFormat: "text",
      graffiti: undefined,
      graffitiCodes: true,
      trackFutures: false,
      eth1: [],
      preset: "minimal",
      validators: 64,
      forks: DEV_FORKS.map((fork) => ({ fork, epoch: 0 })),
      slotSeconds: 2,
      devBlobs: { least: 0, most: 0 },
      speed: 1,
      warmupEpochs: 5,
      catchUp: false,
      reset: false,
      networking: undefined,
    });
  });

  it("of node", () => {
    expect(node()).toEqual({
      rpc: false,
      rpcPort: 9190,
      rpcAddress: "127.0.0.1",
      rpcAccess: { vhosts: [], allowOrigin: [], api: undefined, tokenFile: undefined },
      rest: false,
      restPort: 5052,
      restAddress: "127.0.0.1",
      restAccess: { vhosts: [], allowOrigin: [], api: undefined, tokenFile: undefined },
      metrics: false,
      metricsPort: 8008,
      web: true,
      metricsAddress: "127.0.0.1",
      dataDir: join(folder, ".fanal/mainnet"),
      limits: DEFAULT_SERVER_LIMITS,
      logLevel: "INFO",
      logFormat: "text",
      graffiti: undefined,
      graffitiCodes: true,
      trackFutures: false,
      eth1: [],
      network: { name: "mainnet", directory: undefined, preset: "mainnet" },
      syncHorizon: undefined,
      backfillEpochs: undefined,
      safeSlotsToImportOptimistically: 128,
      genesisState: undefined,
      checkpoint: undefined,
      devValidators: [],
      devBlobs: { least: 0, most: 0 },
      networking: {
        address: "0.0.0.0",
        port: 9000,
        discovery: true,
        bootnodes: [],
        directPeers: [],
        targetPeers: 50,
        supernode: false,
      },
    });
  });
});

describe("the command line", () => {
  it("sets every option of dev", () => {
    const options = dev(
      `--rpc --rpc-port 0 --rpc-address ::1 --rest --rest-port 1 --rest-address ::1 --metrics --metrics-port 2 --metrics-address ::1 --datadir here --log-level DEBUG;TRACE:chain --log-format json --graffiti 0x01
       --validators 8 --fork altair --fork-at bellatrix=3 --fork-at capella=4,deneb=5 --preset=minimal --slot-seconds 6
       --speed .5 --dev-blobs 0-6 --warmup-epochs 0 --genesis-time 1700000000 --reset --dev-validators 0-2,7`.split(
        /\s+/,
      ),
    );
    expect(options).toMatchObject({
      rpc: true,
      rpcPort: 0,
      rpcAddress: "::1",
      rest: true,
      restPort: 1,
      restAddress: "::1",
      metrics: true,
      metricsPort: 2,
      web: true,
      metricsAddress: "::1",
      dataDir: join(folder, "here"),
      logLevel: "DEBUG;TRACE:chain",
      logFormat: "json",
      validators: 8,
      activeValidators: [0, 1, 2, 7],
      slotSeconds: 6,
      devBlobs: { least: 0, most: 6 },
      speed: 0.5,
      warmupEpochs: 0,
      genesisTime: 1_700_000_000,
      reset: true,
    });
    expect(options.graffiti?.[0]).toBe(1);
    expect(dev(["--no-graffiti-codes"]).graffitiCodes).toBe(false);
    expect(dev(["--catch-up"]).catchUp).toBe(true);
    expect(options.forks.map(({ fork, epoch }) => `${fork}=${epoch}`).join(" ")).toBe(
      "phase0=0 altair=0 bellatrix=3 capella=4 deneb=5",
    );
  });

  it("names the deposit contract of a dev chain, and who knows of its deposits", () => {
    const contract = `0x${"Ab".repeat(20)}`;
    const url = "http://127.0.0.1:8545";
    const options = dev(["--deposit-contract", contract, "--eth1", url, "--eth1", `${url}/2,${url}`]);
    expect(options).toMatchObject({
      eth1: [url, `${url}/2`],
      deposits: { contract: contract.toLowerCase(), chainId: 31337, followDistance: 32 },
    });
    const others = ["--deposit-chain-id", "7", "--eth1-follow-distance", "4", "--speed", "2"];
    expect(dev(["--deposit-contract", contract, ...others])).toMatchObject({
      eth1: [],
      deposits: { chainId: 7, followDistance: 4 },
    });
    expect(dev(["--deposit-contract", contract, "--preset", "mainnet"]).deposits!.followDistance).toBe(2048);
    expect(refusal(() => dev(["--deposit-contract", contract, "--eth1", url, "--speed", "2"]))).toMatch(
      /--eth1 and --speed 2 exclude each other/,
    );
    expect(node(["--eth1", url]).eth1).toEqual([url]);
  });

  it("sets every option of node, with files made absolute and addresses left alone", () => {
    const url = "https://example.org/state.ssz";
    expect(
      node([
        ...`--network hoodi --sync-horizon 7 --genesis-state g.ssz --checkpoint-state ${url} --data-dir /d`.split(" "),
        ..."--safe-slots-to-import-optimistically 256 --backfill-epochs 40".split(" "),
      ]),
    ).toMatchObject({
      network: { name: "hoodi" },
      syncHorizon: 7,
      backfillEpochs: 40,
      safeSlotsToImportOptimistically: 256,
      execution: undefined,
      genesisState: join(folder, "g.ssz"),
      checkpoint: { state: url, block: undefined, api: "https://example.org/" },
      dataDir: "/d",
    });
    expect(node(["--backfill-epochs", "all"]).backfillEpochs).toBe(Number.POSITIVE_INFINITY);
  });

  it("has the validators of a node put blobs into their blocks, and a node without any refuse to", () => {
    const validating = node(["--dev-validators", "0-3", "--dev-blobs", "1-2"]);
    expect(validating.devBlobs).toEqual({ least: 1, most: 2 });
    expect(refusal(() => node(["--dev-blobs", "1-2"]))).toContain("is of no use to a node without --dev-validators");
  });
});

describe("execution clients", () => {
  const [first, second] = ["http://127.0.0.1:8551", "https://el.example/"];

  it("are named in their order, with a secret in the data directory unless it lies elsewhere", () => {
    expect(node(["--el", first, "--el", second, "--data-dir", "d"]).execution).toEqual({
      urls: [first, second],
      jwtSecretFile: join(folder, "d/jwt.hex"),
    });
    expect(dev(["--web3-url", first, "--jwt-secret", "s.hex"]).execution).toEqual({
      urls: [first],
      jwtSecretFile: join(folder, "s.hex"),
    });
    const respelled = ["--el", "http://[::1]:1", "--el", second, "--el", "HTTP://[0:0::1]:1/"];
    expect(node(respelled).execution?.urls).toEqual(["http://[::1]:1", second]);
    expect(dev([], { FANAL_EL: `${first},${second}` }).execution?.urls).toEqual([first, second]);
  });

  it("are refused where they make no sense", () => {
    expect(refusal(() => dev(["--el", "127.0.0.1:8551"]))).toContain("it must be a URL that begins with http://");
    const withPassword = refusal(() => dev(["--el", "http://me:secret@127.0.0.1:99999"]));
    expect(withPassword).toContain(
      '"http://…@127.0.0.1:99999" of --el is not accepted: it is not a URL: its host or its port',
    );
    expect(refusal(() => node(["--jwt-secret", "s.hex"]))).toContain("is of no use without --el");
    expect(refusal(() => dev(["--el", first, "--speed", "2"]))).toContain("--el and --speed 2 exclude each other");
    for (const refused of [dev, node]) {
      const complaint = refusal(() => refused(["--el", first, "--dev-blobs", "3", "--dev-validators", "all"]));
      expect(complaint).toContain("--dev-blobs and --el exclude each other");
    }
  });
});

describe("who may use a server", () => {
  it("is said for each apart", () => {
    const options = dev(
      "--rpc-vhosts Node.Example,other_host --rpc-api read,debug --rest-allow-origin * --rest-token-file token".split(
        " ",
      ),
    );
    expect(options.rpcAccess).toMatchObject({ vhosts: ["node.example", "other_host"], api: ["read", "debug"] });
    expect(options.restAccess).toMatchObject({ allowOrigin: ["*"], api: undefined, tokenFile: join(folder, "token") });
  });

  it.each(["rpc", "rest"])("has to be said of --%s on an address of other machines", (server) => {
    const open = [`--${server}-address`, "0.0.0.0", `--${server}`];
    const complaint = refusal(() => dev(open));
    for (const flag of ["address 0.0.0.0", "token-file FILE", "allow-anyone"]) {
      expect(complaint).toContain(`--${server}-${flag}`);
    }
    for (const address of ["::", "192.0.2.1", "node.lan"]) {
      expect(refusal(() => dev([`--${server}-address`, address, `--${server}`]))).toContain("lets other machines call");
    }
    for (const way of [[`--${server}-token-file`, "t"], [`--${server}-allow-anyone`], [`--no-${server}`]]) {
      expect(() => dev([...open, ...way])).not.toThrow();
    }
    for (const address of ["127.0.0.2", "::1", "localhost"]) {
      expect(() => dev([`--${server}-address`, address, `--${server}`])).not.toThrow();
    }
  });
});

describe("precedence", () => {
  it("is flag, then environment, then config file, then default", () => {
    const config = file("order.yaml", "rpc-port: 1\nvalidators: 10\nslot-seconds: 4\n");
    const environment = { FANAL_RPC_PORT: "2", FANAL_VALIDATORS: "20", FANAL_CONFIG_FILE: config };
    expect(dev(["--rpc-port", "3"], environment)).toMatchObject({
      rpcPort: 3,
      validators: 20,
      slotSeconds: 4,
      warmupEpochs: 5,
    });
  });

  it("lets --no-rpc beat what the environment or the file switches on", () => {
    const config = file("on.yaml", "rpc: true\n");
    expect(dev(["--config-file", config]).rpc).toBe(true);
    expect(dev(["--config-file", config], { FANAL_RPC: "false" }).rpc).toBe(false);
    expect(dev(["--config-file", config, "--no-rpc"], { FANAL_RPC: "1" }).rpc).toBe(false);
  });

  it("takes an empty variable for none, and aliases for the names they stand for", () => {
    expect(dev([], { FANAL_RPC_PORT: "" }).rpcPort).toBe(9190);
    expect(dev([], { FANAL_DATADIR: "elsewhere" }).dataDir).toBe(join(folder, "elsewhere"));
    expect(dev(["--config-file", file("alias.yaml", "datadir: there")]).dataDir).toBe(join(folder, "there"));
  });
});

describe("the config file", () => {
  it("may be YAML, whose scalars stay as written", () => {
    const config = file("a.yml", "rpc: true\ngraffiti: 0x1234\nspeed: 2.5\nfork-at: [altair=1, bellatrix=2]\n");
    const options = dev(["--config-file", config]);
    expect(options).toMatchObject({ rpc: true, speed: 2.5 });
    expect([...(options.graffiti ?? [])].slice(0, 3)).toEqual([0x12, 0x34, 0]);
    expect(options.forks).toHaveLength(3);
  });

  it("may be TOML", () => {
    const config = file(
      "a.toml",
      'rpc = true\nrpc-port = 80\nspeed = 2.5\nfork = "altair"\nfork-at = ["bellatrix=2"]\n',
    );
    expect(dev(["--config-file", config])).toMatchObject({ rpc: true, rpcPort: 80, speed: 2.5 });
  });

  it("may be empty", () => {
    expect(dev(["--config-file", file("empty.yaml", "# nothing\n")]).rpcPort).toBe(9190);
  });

  const refused: [name: string, text: string, complaint: RegExp][] = [
    [
      "u1.yaml",
      "rpc-prot: 1",
      /"rpc-prot" in the config file .*u1\.yaml is not the name of a flag\. Did you mean "rpc-port"/,
    ],
    ["u2.toml", "rpcPort = 1", /"rpcPort".*u2\.toml.*Did you mean "rpc-port"/],
    ["u3.yaml", "network: mainnet", /"network".*belongs to "fanal node"/],
    ["u4.yaml", "qqqqqqqq: 1", /"qqqqqqqq".*"fanal dev --help" lists the flags/],
    ["u5.yaml", "config-file: x.yaml", /cannot name another one/],
    ["v1.yaml", "rpc-port: 70000", /"70000" of the key "rpc-port" in the config file .*v1\.yaml.*from 0 to 65535/],
    ["v2.yaml", "rpc: yes", /"yes" of the key "rpc".*true or false/],
    ["v3.yaml", "rpc:", /"" of the key "rpc".*true or false/],
    ["v4.yaml", "rpc-port: [1]", /"rpc-port".*v4\.yaml must be a number/],
    ["v5.toml", "graffiti = 0x1234", /"graffiti".*v5\.toml must be a text/],
    ["v6.toml", "rpc-port = true", /"rpc-port".*must be a number/],
    ["v7.yaml", "fork-at: {altair: 1}", /"fork-at".*must be a list of texts/],
    ["w1.yaml", "- rpc", /must hold keys and values/],
    ["w2.yaml", "rpc: [", /w2\.yaml is not valid: /],
    ["w3.toml", "rpc = ", /w3\.toml is not valid: /],
    ["w4.json", "{}", /w4\.json must be YAML or TOML/],
    ["w5.yaml", "data-dir: a\ndatadir: b", /gives --data-dir twice/],
  ];
  for (const [name, text, complaint] of refused) {
    it(`is refused for ${JSON.stringify(text)} in ${name}`, () => {
      expect(refusal(() => dev(["--config-file", file(name, text)]))).toMatch(complaint);
    });
  }

  it("must exist", () => {
    expect(refusal(() => dev(["--config-file", "gone.yaml"]))).toMatch(/gone\.yaml cannot be read: ENOENT/);
  });
});

describe("values that are refused", () => {
  const onDev: [argv: string[], complaint: RegExp][] = [
    [["--rpc-port", "65536"], /"65536" of --rpc-port is not accepted: it must be a whole number from 0 to 65535\./],
    [["--rest-port", "x"], /"x" of --rest-port/],
    [
      ["--rest-allow-origin", "http://a.b/c"],
      /it must be \* or an origin such as http:\/\/localhost:3000, without a path/,
    ],
    [["--rest-allow-origin", "localhost"], /it must be \* or an origin/],
    [["--rpc-vhosts", "http://node.example"], /it must be \* or a host name such as node\.example, without a scheme/],
    [["--rpc-vhosts", "node.example:9190"], /without a scheme and a port/],
    [["--rpc-api", "read,everything"], /"read,everything" of --rpc-api.*it must be read, submit, debug, admin or dev/],
    [["--log-level", "INFO; TRACE:chian"], /the topic "chian", which there is not. Did you mean "chain"\?/],
    [["--rpc-port", "-1"], /"-1" of --rpc-port/],
    [["--rpc-port", "0x10"], /whole number/],
    [["--rpc-address", "300.1.1.1"], /IP address or a host name/],
    [["--rpc-address", "a b"], /IP address or a host name/],
    [["--log-level", "LOUD"], /"LOUD" of --log-level is not accepted: the log specification starts with "LOUD"/],
    [["--log-format", "xml"], /it must be text or json/],
    [["--graffiti", "0x1"], /even number of at most 64 hex digits/],
    [["--data-dir", ""], /it must be a directory, and it is empty/],
    [["--validators", "7"], /--validators 7 is too few.*minimal preset needs at least 8/],
    [["--validators", "31", "--preset", "mainnet"], /mainnet preset needs at least 32/],
    [["--validators", "1e3"], /whole number of at least 1/],
    [["--fork", "gloas"], /phase0, altair, bellatrix, capella, deneb, electra or fulu/],
    [["--fork-at", "altair"], /such as altair=2/],
    [["--preset", "gnosis"], /minimal or mainnet/],
    [["--slot-seconds", "0"], /at least 1/],
    [["--slot-seconds", "1.5"], /whole number/],
    [["--speed", "1000001"], /from 0 to 1000000/],
    [["--speed", "-1"], /from 0 to 1000000/],
    [["--speed", "fast"], /from 0 to 1000000/],
    [["--dev-blobs", "6-0"], /a number of blobs or an ascending range, such as 3 or 0-6/],
    [["--dev-blobs", "-1"], /such as 3 or 0-6/],
    [["--p2p", "--no-auto"], /--p2p and --speed 0 exclude each other/],
    [["--warmup-epochs", "-1"], /at least 0/],
    [["--catch-up", "--speed", "2"], /--catch-up and --speed 2 exclude each other/],
    [["--eth1", "http://127.0.0.1:8545"], /--eth1 is of no use to a dev chain without --deposit-contract/],
    [["--eth1", "ws://127.0.0.1:8545"], /a URL that begins with http/],
    [["--deposit-contract", "0x42"], /0x and 40 hex digits/],
    [["--deposit-chain-id", "0"], /at least 1/],
    [["--eth1-follow-distance", "0"], /from 1 to 100000/],
    [["--p2p-port", "65536"], /from 0 to 65535/],
    [["--p2p-address", "localhost"], /it must be an IP address to listen on/],
    [["--target-peers", "-1"], /from 0 to 1000/],
    [
      ["--peer", "127.0.0.1:9000"],
      /it must be an address with the peer's id, such as \/ip4\/192\.0\.2\.1\/tcp\/9000\/p2p\//,
    ],
    [["--peer", "/ip4/127.0.0.1/tcp/9000"], /with the peer's id/],
    [["--peer", `/ip4/300.0.0.1/tcp/9000/p2p/${"1".repeat(50)}`], /with the peer's id/],
    [["--peer", `/ip4/127.0.0.1/tcp/0/p2p/${"1".repeat(50)}`], /with the peer's id/],
    [["--peer", `/ip4/127.0.0.1/udp/9000/p2p/${"1".repeat(50)}`], /with the peer's id/],
    [["--bootnodes", "enr:-with space"], /it must be a record such as enr:-…/],
    [["--bootnodes", ""], /it is empty/],
  ];
  for (const [argv, complaint] of onDev) {
    it(argv.join(" "), () => expect(refusal(() => dev(argv))).toMatch(complaint));
  }

  it("says which variable holds the value", () => {
    const attempt = () => dev([], { FANAL_RPC_PORT: "http" });
    expect(refusal(attempt)).toMatch(/^The value "http" of the environment variable FANAL_RPC_PORT is not accepted/);
  });

  it("names a variable that is none, and the one that was probably meant", () => {
    expect(refusal(() => dev([], { FANAL_RPC_PROT: "1" }))).toBe(
      "The environment variable FANAL_RPC_PROT is not that of a flag. Did you mean FANAL_RPC_PORT?",
    );
    expect(refusal(() => node([], { FANAL_ZZZZZZZZ: "1" }))).toMatch(/FANAL_ZZZZZZZZ .* docs\/flags\.md/);
  });

  it("leaves variables of other commands and of others alone", () => {
    const others = {
      FANAL_URL: "http://x",
      FANAL_TEST_SEED: "7",
      FANAL_RPC_PROT: "",
      FANAL: "1",
      XFANAL_RPC_PROT: "1",
    };
    const ofKubernetes = {
      FANAL_SERVICE_HOST: "10.0.0.1",
      FANAL_PORT: "tcp://10.0.0.1:9190",
      FANAL_PORT_9190_TCP: "x",
    };
    expect(dev([], { ...others, ...ofKubernetes }).rpcPort).toBe(9190);
  });

  it("of node", () => {
    expect(refusal(() => node(["--genesis-state", "ftp://x/y"]))).toMatch(/http:\/\/ or https:\/\//);
    expect(refusal(() => node(["--sync-horizon", "x"]))).toMatch(/whole number/);
    expect(refusal(() => node(["--backfill-epochs", "some"]))).toMatch(
      /whole number of epochs of at least 0, or "all"/,
    );
    expect(refusal(() => node(["--network", "nowhere"]))).toMatch(/neither a network/);
  });
});

describe("the builder", () => {
  it("is none unless it is named, and then trusted as other clients do", () => {
    expect(node([]).builder).toBeUndefined();
    expect(dev(["--builder", "http://127.0.0.1:18550"]).builder).toEqual({
      url: "http://127.0.0.1:18550",
      ...DEFAULT_BUILDER_OPTIONS,
    });
  });

  it("is as the flags say", () => {
    const builder = ["--builder", "https://relay.example", "--builder-timeout", "500"];
    const trust = ["--builder-fallback-skips", "2", "--builder-fallback-skips-per-epoch", "4"];
    expect(node([...builder, ...trust, "--builder-boost-factor", "18446744073709551615"]).builder).toEqual({
      url: "https://relay.example",
      bidTimeoutMs: 500,
      boostFactor: 2n ** 64n - 1n,
      missedSlots: { inARow: 2, inAnEpoch: 4 },
    });
    expect(refusal(() => node(["--builder-boost-factor", "18446744073709551616"]))).toContain("0 to 2^64-1");
    expect(refusal(() => node(["--builder-timeout", "5"]))).toMatch(
      /^--builder-timeout is of no use without --builder,/,
    );
    expect(refusal(() => node(["--builder", "relay.example"]))).toContain("begins with http:// or https://");
  });
});

describe("limits of the servers", () => {
  it("are those of the flags", () => {
    const { limits } = dev([
      "--max-heavy-calls",
      "2",
      "--max-body-bytes",
      "1000",
      "--call-timeout",
      "5",
      "--rate-limit",
      "9",
    ]);
    expect(limits).toMatchObject({ bodyBytes: 1000, smallBodyBytes: 1000, requestMillis: 5000, requestsPerSecond: 9 });
    expect(limits.calls.heavy).toEqual({ ...DEFAULT_SERVER_LIMITS.calls.heavy, running: 2 });
  });

  it("are whole numbers above zero", () => {
    expect(refusal(() => dev(["--max-streams", "0"]))).toContain("--max-streams");
  });
});
