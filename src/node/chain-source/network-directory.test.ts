import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChainConfig, chainConfigFromJson } from "@lodestar/config";
import { networksChainConfig } from "@lodestar/config/networks";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { openDevChain } from "../../../test/support/chain/dev-chain.ts";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { networkBootnodes } from "../../cli/flags/network/bootnodes.ts";
import { resolveNetwork } from "../../cli/flags/node/preset.ts";
import { configYaml } from "../../dev/config-yaml.ts";
import { writeBootnodes, writeNetworkDirectory } from "../../dev/network-directory.ts";
import { loadNetworkConfig } from "./network-config.ts";
import { knownGenesis } from "./network-genesis.ts";

const plain = (config: ChainConfig) => ({ ...config });

it("a node of any user reads the network directory of a dev chain", async () => {
  const dataDir = tempDirectory();
  const forks = [{ fork: "capella", epoch: 0 } as const, { fork: "deneb", epoch: 3 } as const];
  const networkDirectory = join(dataDir, "network");
  // The directory is unique to this process.
  mkdirSync(networkDirectory, { mode: 0o700 });
  const { devChain } = await openDevChain({ validators: 8, forks, networkDirectory }, dataDir);

  const network = resolveNetwork("network", dataDir);
  expect(network.preset).toBe("minimal");
  const config = loadNetworkConfig(network);
  for (const [key, value] of Object.entries(config)) {
    expect(value, key).toEqual(devChain.config[key as keyof ChainConfig]);
  }
  expect(config).toMatchObject({ CONFIG_NAME: "fanal-dev", DENEB_FORK_EPOCH: 3, ELECTRA_FORK_EPOCH: Infinity });
  expect(knownGenesis(network)).toEqual({
    genesisTime: devChain.chain.genesis.time,
    genesisValidatorsRoot: toRootHex(devChain.chain.genesis.validatorsRoot),
  });
  const genesis = readFileSync(join(dataDir, "network", "genesis.ssz"));
  const state = devChain.config.getForkTypes(0).BeaconState.deserializeToViewDU(genesis);
  expect(state.hashTreeRoot()).toEqual((await devChain.chain.states.genesis())!.hashTreeRoot());
  const modeOf = (...names: string[]) => statSync(join(networkDirectory, ...names)).mode & 0o777;
  expect(modeOf()).toBe(0o755);
  expect(modeOf("genesis.ssz")).toBe(0o644);
  // An unfinished file would be listed as well.
  expect(readdirSync(join(dataDir, "network")).sort()).toEqual([
    "config.yaml",
    "deploy_block.txt",
    "deposit_contract_block.txt",
    "genesis.ssz",
  ]);
});

it("writes the configuration in the format of the specification, with numbers unquoted", () => {
  const text = configYaml(networksChainConfig.mainnet);
  const numbers = parse(text, { intAsBigInt: true });
  expect(numbers).toMatchObject({
    PRESET_BASE: "mainnet",
    CONFIG_NAME: "mainnet",
    SECONDS_PER_SLOT: 12n,
    GLOAS_FORK_EPOCH: 18446744073709551615n,
    ATTESTATION_SUBNET_COUNT: 64n,
    TERMINAL_TOTAL_DIFFICULTY: 58750000000000000000000n,
    BLOB_SCHEDULE: networksChainConfig.mainnet.BLOB_SCHEDULE.map(({ EPOCH, MAX_BLOBS_PER_BLOCK }) => ({
      EPOCH: BigInt(EPOCH),
      MAX_BLOBS_PER_BLOCK: BigInt(MAX_BLOBS_PER_BLOCK),
    })),
  });
  expect(text).toMatch(/^DEPOSIT_CONTRACT_ADDRESS: 0x00000000219ab540356cbb839cbe05303d7705fa$/m);
  expect(plain(chainConfigFromJson(parse(text, { schema: "failsafe" })) as ChainConfig)).toEqual(
    plain(networksChainConfig.mainnet),
  );
});

it("replaces files of an earlier chain, and keeps those of the same chain", async () => {
  const directory = join(tempDirectory(), "network");
  const file = join(directory, "genesis.ssz");
  let timesRead = 0;
  const describe = (isNew: boolean, bytes: number[]) =>
    writeNetworkDirectory(directory, {
      config: networksChainConfig.mainnet,
      isNew,
      genesisState: async () => {
        timesRead++;
        return Uint8Array.from(bytes);
      },
    });
  await describe(true, [1]);
  await describe(false, [2]);
  expect([...readFileSync(file)]).toEqual([1]);
  expect(timesRead).toBe(1);
  rmSync(file);
  await describe(false, [3]);
  expect([...readFileSync(file)]).toEqual([3]);
  await describe(true, [4]);
  expect([...readFileSync(file)]).toEqual([4]);

  const records = ["enr:-one", "enr:-two"];
  await writeBootnodes(directory, records);
  expect(parse(readFileSync(join(directory, "boot_enr.yaml"), "utf8"))).toEqual(records);
  expect(readFileSync(join(directory, "bootstrap_nodes.txt"), "utf8")).toBe("enr:-one\nenr:-two\n");
  expect(networkBootnodes(directory)).toEqual(records);
  await describe(false, []);
  expect(networkBootnodes(directory)).toEqual([]);
});

it("reports a directory that cannot be written", async () => {
  const dataDir = tempDirectory();
  const networkDirectory = join(dataDir, "network");
  writeFileSync(networkDirectory, "in the way");
  const opening = openDevChain({ validators: 8, networkDirectory }, dataDir);
  await expect(opening).rejects.toThrow(/network cannot be written: EEXIST.*\.$/);
  // The failed attempt closed the data directory.
  await openDevChain({ validators: 8 }, dataDir);
});
