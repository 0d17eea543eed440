import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../test/support/cli/flags/settings.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../chain/settings.ts";
import { DEFAULT_FORK, DEV_FORKS } from "../../dev/forks.ts";
import { EVM_WITHDRAWALS } from "../../dev/genesis-parameters.ts";
import { DEFAULT_SERVER_LIMITS } from "../../node/servers/server-limits.ts";
import { DEFAULT_SYNC_SETTINGS } from "../../sync/settings.ts";

const { folder, dev, node } = settingsInTemporaryDirectory();

describe("defaults", () => {
  it("of dev", () => {
    expect(dev()).toEqual({
      dataDir: join(folder, ".fanal/dev"),
      servers: {
        limits: DEFAULT_SERVER_LIMITS,
        jsonRpc: undefined,
        rest: undefined,
        metrics: undefined,
        ethRpc: expect.objectContaining({ host: "127.0.0.1", port: 8545 }),
      },
      log: { spec: "INFO", format: "text", file: undefined, accessLog: undefined },
      chain: DEFAULT_CHAIN_SETTINGS,
      kzgBackend: "auto",
      trackFutures: false,
      eth1: [],
      preset: "minimal",
      validators: 64,
      forks: DEV_FORKS.slice(0, DEV_FORKS.indexOf(DEFAULT_FORK) + 1).map((fork) => ({ fork, epoch: 0 })),
      slotSeconds: 2,
      evm: { chainId: 31_337 },
      withdrawals: EVM_WITHDRAWALS,
      devBlobs: { min: 0, max: 0 },
      speed: 1,
      warmupEpochs: 5,
      catchUp: false,
      reset: false,
      networking: undefined,
    });
  });

  it("of node", () => {
    expect(node()).toEqual({
      dataDir: join(folder, ".fanal/mainnet"),
      servers: { limits: DEFAULT_SERVER_LIMITS, jsonRpc: undefined, rest: undefined, metrics: undefined },
      log: { spec: "INFO", format: "text", file: undefined, accessLog: undefined },
      chain: DEFAULT_CHAIN_SETTINGS,
      kzgBackend: "auto",
      trackFutures: false,
      eth1: [],
      network: { name: "mainnet", directory: undefined, preset: "mainnet" },
      sync: DEFAULT_SYNC_SETTINGS,
      genesisState: undefined,
      checkpoint: undefined,
      devValidators: [],
      devBlobs: { min: 0, max: 0 },
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

describe("command line", () => {
  it("sets every option of dev", () => {
    const options = dev(
      `--rpc --rpc-port 0 --rpc-address ::1 --rest --rest-port 1 --rest-address ::1 --metrics --metrics-port 2 --metrics-address ::1 --datadir here --log-level DEBUG;TRACE:chain --log-format json --graffiti 0x01
       --validators 8 --fork altair --fork-at bellatrix=3 --fork-at capella=4,deneb=5 --preset=minimal --slot-seconds 6
       --speed .5 --dev-blobs 0-6 --warmup-epochs 0 --genesis-time 1700000000 --reset --dev-validators 0-2,7`.split(
        /\s+/,
      ),
    );
    expect(options).toMatchObject({
      servers: {
        jsonRpc: { host: "::1", port: 0, page: true },
        rest: { host: "::1", port: 1 },
        metrics: { host: "::1", port: 2 },
      },
      dataDir: join(folder, "here"),
      log: { spec: "DEBUG;TRACE:chain", format: "json" },
      validators: 8,
      activeValidators: [0, 1, 2, 7],
      slotSeconds: 6,
      devBlobs: { min: 0, max: 6 },
      speed: 0.5,
      warmupEpochs: 0,
      genesisTime: 1_700_000_000,
      reset: true,
    });
    expect(options.chain.graffiti?.[0]).toBe(1);
    expect(dev(["--no-graffiti-codes"]).chain.graffitiCodes).toBe(false);
    expect(dev(["--no-proposer-reorgs"]).chain.proposerReorgs).toBe(false);
    const pubkey = `0x${"aB".repeat(48)}`;
    expect(dev(["--monitor-validators", `7,0-2, ${pubkey}`, "--monitor-validators", "2-3"]).monitorValidators).toEqual({
      indices: [0, 1, 2, 3, 7],
      pubkeys: [pubkey.toLowerCase()],
    });
    expect(dev([]).monitorValidators).toBeUndefined();
    expect(refusal(() => dev(["--monitor-validators", "5-2"]))).toMatch(/ascending range such as 0-63/);
    expect(refusal(() => dev(["--monitor-validators", pubkey.slice(0, -2)]))).toMatch(/public key of 48 bytes/);
    expect(refusal(() => dev(["--monitor-validators", "0-100000"]))).toMatch(/more than 100000 validators/);
    const recipient = ["--suggested-fee-recipient", `0x${"Ab".repeat(20)}`];
    expect(dev(recipient).chain.suggestedFeeRecipient).toEqual(new Uint8Array(20).fill(0xab));
    expect(dev(["--catch-up"]).catchUp).toBe(true);
    expect(options.forks.map(({ fork, epoch }) => `${fork}=${epoch}`).join(" ")).toBe(
      "phase0=0 altair=0 bellatrix=3 capella=4 deneb=5",
    );
  });

  it("sets the deposit contract and chain of a dev chain", () => {
    const contract = `0x${"Ab".repeat(20)}`;
    const url = "http://127.0.0.1:8545";
    const flags = ["--fork", "electra", "--deposit-contract", contract];
    const options = dev([...flags, "--eth1", url, "--eth1", `${url}/2,${url}`]);
    expect(options).toMatchObject({
      eth1: [url, `${url}/2`],
      deposits: { contract: contract.toLowerCase(), chainId: 31337, followDistance: 32 },
    });
    const others = ["--deposit-chain-id", "7", "--eth1-follow-distance", "4", "--speed", "2"];
    expect(dev([...flags, ...others])).toMatchObject({
      eth1: [],
      deposits: { chainId: 7, followDistance: 4 },
    });
    const withClient = dev(["--deposit-contract", contract, "--el", url]);
    expect(withClient.deposits).toEqual({ contract: contract.toLowerCase(), chainId: undefined, followDistance: 32 });
    expect(dev([...flags, "--preset", "mainnet"]).deposits!.followDistance).toBe(2048);
    expect(refusal(() => dev(["--deposit-contract", contract, "--eth1", url]))).toMatch(
      /requires --el on a chain that starts in fulu/,
    );
    expect(refusal(() => dev([...flags, "--eth1", url, "--speed", "2"]))).toMatch(
      /--eth1 and --speed 2 are mutually exclusive/,
    );
    expect(node(["--eth1", url]).eth1).toEqual([url]);
  });

  it("sets every option of node, resolves file names and keeps URLs", () => {
    const url = "https://example.org/state.ssz";
    expect(
      node([
        ...`--network hoodi --sync-horizon 7 --genesis-state g.ssz --checkpoint-state ${url} --data-dir /d`.split(" "),
        ..."--safe-slots-to-import-optimistically 256 --backfill-epochs 40".split(" "),
      ]),
    ).toMatchObject({
      network: { name: "hoodi" },
      sync: { horizonSlots: 7, backfillEpochs: 40 },
      chain: { safeSlotsToImportOptimistically: 256 },
      execution: undefined,
      genesisState: join(folder, "g.ssz"),
      checkpoint: { state: url, block: undefined, api: "https://example.org/" },
      dataDir: "/d",
    });
    expect(node(["--backfill-epochs", "all"]).sync.backfillEpochs).toBe(Number.POSITIVE_INFINITY);
  });

  it("requires --dev-validators for --dev-blobs of a node", () => {
    const validating = node(["--dev-validators", "0-3", "--dev-blobs", "1-2"]);
    expect(validating.devBlobs).toEqual({ min: 1, max: 2 });
    expect(refusal(() => node(["--dev-blobs", "1-2"]))).toContain("requires --dev-validators");
  });
});

describe("invalid values", () => {
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
    [["--log-level", "INFO; TRACE:chian"], /the unknown topic "chian". Did you mean "chain"\?/],
    [["--rpc-port", "-1"], /"-1" of --rpc-port/],
    [["--rpc-port", "0x10"], /whole number/],
    [["--rpc-address", "300.1.1.1"], /IP address or a host name/],
    [["--rpc-address", "a b"], /IP address or a host name/],
    [["--log-level", "LOUD"], /"LOUD" of --log-level is not accepted: the log specification starts with "LOUD"/],
    [["--log-format", "xml"], /it must be text or json/],
    [["--graffiti", "0x1"], /even number of at most 64 hex digits/],
    [["--data-dir", ""], /it must be a directory, and it is empty/],
    [["--validators", "7"], /--validators 7 is too few.*minimal preset requires at least 8/],
    [["--validators", "31", "--preset", "mainnet"], /mainnet preset requires at least 32/],
    [["--validators", "1e3"], /whole number of at least 1/],
    [["--fork", "heze"], /phase0, altair, bellatrix, capella, deneb, electra, fulu or gloas/],
    [["--fork-at", "altair"], /such as altair=2/],
    [["--preset", "gnosis"], /minimal or mainnet/],
    [["--slot-seconds", "0"], /from 1 to 31536000/],
    [["--slot-seconds", "1.5"], /whole number/],
    [["--speed", "1000001"], /from 0 to 1000000/],
    [["--speed", "-1"], /from 0 to 1000000/],
    [["--speed", "fast"], /from 0 to 1000000/],
    [["--dev-blobs", "6-0"], /a number of blobs or an ascending range, such as 3 or 0-6/],
    [["--dev-blobs", "-1"], /such as 3 or 0-6/],
    [["--p2p", "--no-auto"], /--p2p and --no-auto are mutually exclusive/],
    [["--warmup-epochs", "-1"], /at least 0/],
    [["--catch-up", "--speed", "2"], /--catch-up and --speed 2 are mutually exclusive/],
    [["--eth1", "http://127.0.0.1:8545"], /--eth1 requires --deposit-contract/],
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

  it("are reported with their variable", () => {
    const attempt = () => dev([], { FANAL_RPC_PORT: "http" });
    expect(refusal(attempt)).toMatch(/^The value "http" of the environment variable FANAL_RPC_PORT is not accepted/);
  });

  it("include unknown variables, with the nearest name", () => {
    expect(refusal(() => dev([], { FANAL_RPC_PROT: "1" }))).toBe(
      "Unknown environment variable FANAL_RPC_PROT. Did you mean FANAL_RPC_PORT?",
    );
    expect(refusal(() => node([], { FANAL_ZZZZZZZZ: "1" }))).toMatch(/FANAL_ZZZZZZZZ\. docs\/flags\.md/);
  });

  it("exclude variables of other commands and of other programs", () => {
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
    expect(dev([], { ...others, ...ofKubernetes })).toEqual(dev());
  });

  it("of node", () => {
    expect(refusal(() => node(["--genesis-state", "ftp://x/y"]))).toMatch(/http:\/\/ or https:\/\//);
    expect(refusal(() => node(["--sync-horizon", "x"]))).toMatch(/whole number/);
    expect(refusal(() => node(["--backfill-epochs", "some"]))).toMatch(
      /whole number of epochs of at least 0, or "all"/,
    );
    expect(refusal(() => node(["--network", "nowhere"]))).toMatch(/neither a built-in name/);
  });
});

describe("server limits", () => {
  it("are set by flags", () => {
    const { limits } = dev([
      "--max-heavy-calls",
      "2",
      "--max-body-bytes",
      "1000",
      "--call-timeout",
      "5",
      "--rate-limit",
      "9",
    ]).servers;
    expect(limits).toMatchObject({ bodyBytes: 1000, smallBodyBytes: 1000, requestMillis: 5000, requestsPerSecond: 9 });
    expect(limits.calls.heavy).toEqual({ ...DEFAULT_SERVER_LIMITS.calls.heavy, running: 2 });
  });

  it("are positive integers", () => {
    expect(refusal(() => dev(["--max-streams", "0"]))).toContain("--max-streams");
  });
});
