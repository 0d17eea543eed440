import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";
import type { DevIdentity } from "../../../dev/identity.ts";

const { folder, dev, node, file } = settingsInTemporaryDirectory();
const address = `0x${"Ab".repeat(20)}`;
const forkTexts = (argv: string[], stored?: DevIdentity) =>
  dev(argv, {}, stored)
    .forks.map(({ fork, epoch }) => `${fork}=${epoch}`)
    .join(" ");
const TO_DENEB = "phase0=0 altair=0 bellatrix=0 capella=0 deneb=0";

describe("genesis of a dev chain", () => {
  it("starts in the default fork, the given one, or the one before scheduled forks", () => {
    expect(forkTexts([])).toBe(`${TO_DENEB} electra=0 fulu=0`);
    expect(forkTexts(["--fork", "phase0"])).toBe("phase0=0");
    expect(forkTexts(["--fork-at", "electra=2,fulu=3"])).toBe(`${TO_DENEB} electra=2 fulu=3`);
    expect(forkTexts(["--fork-at", "altair=1"])).toBe("phase0=0 altair=1");
    expect(forkTexts(["--fork", "phase0", "--fork-at", "altair=1"])).toBe("phase0=0 altair=1");
    expect(forkTexts(["--fork", "gloas"])).toBe(`${TO_DENEB} electra=0 fulu=0 gloas=0`);
    for (const argv of [
      ["--gloas-at", "4"],
      ["--fork-at", "gloas=4"],
      ["--fork-at", "gloas=4", "--gloas-at", "4"],
    ]) {
      expect(forkTexts(argv)).toBe(`${TO_DENEB} electra=0 fulu=0 gloas=4`);
    }
  });

  it("names the flag that sets the epoch of gloas in errors", () => {
    const refused = (...argv: string[]) => refusal(() => dev(argv));
    expect(refused("--gloas-at", "1", "--fork", "gloas")).toContain(
      "--gloas-at 1 contradicts --fork gloas, which activates gloas at epoch 0. " +
        "Start in an earlier fork, or leave out --gloas-at.",
    );
    expect(refused("--gloas-at", "3", "--fork-at", "gloas=4")).toContain(
      "--gloas-at 3 contradicts --fork-at gloas=4. Give gloas one epoch, 4 or 3.",
    );
    expect(refused("--gloas-at", "3", "--fork", "deneb")).toContain("--gloas-at 3 skips electra, fulu.");
    expect(refused("--gloas-at", "3", "--fork-at", "fulu=3")).toContain("--gloas-at 3 is not after fulu=3.");
    expect(refused("--gloas-at", "0")).toContain("--gloas-at 0 is genesis, where the chain is fulu.");
  });

  it("has builders from gloas on", () => {
    expect(dev(["--fork", "gloas", "--builders", "3"]).builders).toEqual({ count: 3, balance: 100e9 });
    expect(dev(["--gloas-at", "2", "--builders", "1:2.5"]).builders).toEqual({ count: 1, balance: 2.5e9 });
    expect(refusal(() => dev(["--builders", "3"]))).toContain(
      "--builders requires gloas, but the chain starts in fulu. Add --fork gloas or --gloas-at EPOCH.",
    );
    expect(dev(["--fork", "gloas", "--builders", "11:9000"]).builders).toEqual({ count: 11, balance: 9000e9 });
    expect(refusal(() => dev(["--gloas-at", "2", "--builders", "11:9000"]))).toContain(
      "--builders 11:9000 is too much before gloas: the deposits are made from 10 accounts of the EVM, which have 9900 ETH",
    );
    expect(refusal(() => dev(["--fork", "gloas", "--builders", "0"]))).toContain("it must be a number from 1 to 9999");
  });

  it("sets withdrawal credentials and balances of all validators, ranges and single ones", () => {
    const options = dev([
      ...["--withdrawal-credentials", `0-15=0x01:${address}`],
      ...["--withdrawal-credentials", `16=0x02:${address}, 17-18 = 0x02`],
      ...["--withdrawal-credentials", "0x00"],
      ...["--balances", "0-7=2048,8=31.5,16"],
    ]);
    const target = { prefix: "0x01", address: address.toLowerCase() };
    expect(options.withdrawals).toEqual([
      { range: { first: 0, last: 15 }, value: target },
      { range: { first: 16, last: 16 }, value: { ...target, prefix: "0x02" } },
      { range: { first: 17, last: 18 }, value: { prefix: "0x02" } },
      { value: { prefix: "0x00" } },
    ]);
    expect(options.balances).toEqual([
      { range: { first: 0, last: 7 }, value: 2048e9 },
      { range: { first: 8, last: 8 }, value: 31.5e9 },
      { value: 16e9 },
    ]);
    expect(dev(["--balances", "32.000000001"]).balances).toEqual([{ value: 32_000_000_001 }]);
  });

  it("has one key source", () => {
    const mnemonic = file("words", "  Abandon abandon\n about \n");
    expect(dev([]).keys).toBeUndefined();
    expect(dev(["--interop-keys", "100"])).toMatchObject({ keys: { kind: "interop", first: 100 }, validators: 64 });
    expect(dev(["--interop-keys", "100-115"])).toMatchObject({ keys: { first: 100 }, validators: 16 });
    const words = { kind: "mnemonic", mnemonic: "abandon abandon about" };
    expect(dev(["--mnemonic-file", mnemonic]).keys).toEqual(words);
    expect(dev(["--mnemonic", "abandon abandon  about"]).keys).toEqual(words);
    expect(node(["--dev-validators", "all", "--mnemonic-file", mnemonic]).keys).toEqual(words);
  });

  it("has only validators that fit into memory", () => {
    const tooMany = /--validators 1000000000 is too many: \d+ fit into the (heap|memory) of/;
    expect(refusal(() => dev(["--validators", "1000000000"]))).toMatch(tooMany);
    expect(refusal(() => dev(["--interop-keys", "0-999999999"]))).toMatch(tooMany);
  });

  it("overrides constants of the configuration", () => {
    const argv = [
      "--config",
      "CHURN_LIMIT_QUOTIENT=16,SHARD_COMMITTEE_PERIOD = 2",
      "--config",
      "BLOB_SCHEDULE=2:9;4:12",
    ];
    expect(dev(argv).configOverrides).toEqual({
      CHURN_LIMIT_QUOTIENT: "16",
      SHARD_COMMITTEE_PERIOD: "2",
      BLOB_SCHEDULE: "2:9;4:12",
    });
  });

  it.each([
    [["--withdrawal-credentials", "0x03"], /it must be 0x00, 0x01 or 0x02/],
    [["--withdrawal-credentials", "0x01:0x12"], /it must be an address: 0x and 40 hex digits/],
    [["--withdrawal-credentials", `0x00:${address}`], /0x00 takes no address/],
    [["--withdrawal-credentials", "5-2=0x01"], /an index or an ascending range/],
    [["--withdrawal-credentials", "x=0x01"], /an index or an ascending range/],
    [["--balances", "many"], /it must be an amount of ether/],
    [["--balances", "1.0000000001"], /in whole Gwei/],
    [["--config", "CHURN_LIMIT_QUOTIENT"], /such as SHARD_COMMITTEE_PERIOD=2/],
    [["--config", "A=1", "--config", "A=2"], /--config sets A twice, to 1 and 2/],
    [["--interop-keys", "9-1"], /an ascending range, such as 100-163/],
    [["--interop-keys", "0-15", "--validators", "32"], /has 16 keys, but the chain has 32 validators/],
    [["--interop-keys", "1", "--mnemonic", "a"], /--interop-keys and --mnemonic are mutually exclusive/],
  ])("rejects %j", (argv, complaint) => {
    expect(refusal(() => dev(argv))).toMatch(complaint);
  });

  it("rejects keys for a node that runs no validators", () => {
    expect(refusal(() => node(["--interop-keys", "1"]))).toContain("require --dev-validators");
    expect(() => dev(["--mnemonic-file", "missing"])).toThrow(`${join(folder, "missing")} cannot be read`);
  });
});

describe("stored chain", () => {
  const stored: DevIdentity = {
    kind: "dev",
    preset: "mainnet",
    validators: 40,
    forks: [
      { fork: "phase0", epoch: 0 },
      { fork: "altair", epoch: 3 },
    ],
    slotSeconds: 7,
    warmupEpochs: 1,
    deposits: { contract: address.toLowerCase(), chainId: 5, followDistance: 9 },
    keys: { kind: "mnemonic", mnemonic: "some words" },
    withdrawals: [{ value: { prefix: "0x01" } }],
    balances: [{ value: 33e9 }],
    configOverrides: { SHARD_COMMITTEE_PERIOD: "3" },
    genesisTime: 1_700_000_000,
    genesisValidatorsRoot: "0x00",
  };
  const { kind: _kind, genesisTime: _time, genesisValidatorsRoot: _root, ...parameters } = stored;

  it("provides what no flag sets", () => {
    expect(dev([], {}, stored)).toMatchObject({ ...parameters, genesisTime: undefined });
    expect(dev(["--eth1", "http://127.0.0.1:8545"], {}, stored).deposits).toEqual(stored.deposits);
    expect(dev([], {}, stored).evm).toBeUndefined();
    const evm = { chainId: 7, genesisBlockHash: `0x${"00".repeat(32)}` };
    expect(dev([], {}, { ...stored, evm, deposits: undefined }).evm).toEqual({ chainId: 7 });
    expect(dev(["--dev-validators", "39"], {}, stored).activeValidators).toEqual([39]);
  });

  it("keeps its fork schedule unless another one is given", () => {
    expect(forkTexts(["--fork", "phase0"], stored)).toBe("phase0=0 altair=3");
    expect(forkTexts(["--fork", "altair"], stored)).toBe("phase0=0 altair=0");
    expect(forkTexts(["--fork-at", "altair=4"], stored)).toBe("phase0=0 altair=4");
  });

  it("is overridden by every flag, so that differences can be reported", () => {
    const flags = `--preset minimal --validators 16 --slot-seconds 2 --warmup-epochs 0 --deposit-chain-id 6 --interop-keys 0
      --withdrawal-credentials 0x02 --balances 34 --config SHARD_COMMITTEE_PERIOD=4 --genesis-time 1800000000`;
    expect(dev(flags.split(/\s+/), {}, stored)).toMatchObject({
      preset: "minimal",
      validators: 16,
      slotSeconds: 2,
      warmupEpochs: 0,
      genesisTime: 1_800_000_000,
      deposits: { ...stored.deposits, chainId: 6 },
      keys: { kind: "interop", first: 0 },
      withdrawals: [{ value: { prefix: "0x02" } }],
      balances: [{ value: 34e9 }],
      configOverrides: { SHARD_COMMITTEE_PERIOD: "4" },
    });
  });
});
