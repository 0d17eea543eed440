import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createChainForkConfig } from "@lodestar/config";
import { ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { decryptEIP2335Keystore } from "micro-eth-signer/keystore.js";
import { expect, it } from "vitest";
import { isDepositSignatureValid } from "../../src/dev/genesis-deposits.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const CHAIN = ["--validators", "8", "--fork", "capella"];
const ADDRESS = `0x${"ab".repeat(20)}`;

interface DepositEntry {
  pubkey: string;
  withdrawal_credentials: string;
  amount: number;
  signature: string;
  deposit_message_root: string;
  deposit_data_root: string;
  fork_version: string;
}

interface Interchange {
  metadata: { interchange_format_version: string; genesis_validators_root: string };
  data: { pubkey: string; signed_blocks: object[]; signed_attestations: object[] }[];
}

interface Key {
  index: string;
  pubkey: string;
  secret_key: string;
}

async function fanal(...args: string[]) {
  const program = new ProgramHere(args);
  const { code } = await program.exited;
  return { code, output: program.lines.join("\n") };
}

const readJson = <T>(path: string) => JSON.parse(readFileSync(path, "utf8")) as T;

/** Reads an export: its secret keys by public key, its deposits and its slashing protection data. */
function readExport(directory: string) {
  const names = readdirSync(join(directory, "keystores"));
  const secrets = names.map((name) => {
    const keystore = readJson<Parameters<typeof decryptEIP2335Keystore>[0]>(join(directory, "keystores", name));
    const password = readFileSync(join(directory, "passwords", name.replace(/json$/, "txt")), "utf8");
    return [`0x${keystore.pubkey}`, toHex(decryptEIP2335Keystore(keystore, password))];
  });
  const depositFile = readdirSync(directory).find((name) => /^deposit_data-\d+\.json$/.test(name))!;
  return {
    names,
    secrets: Object.fromEntries(secrets) as Record<string, string>,
    deposits: readJson<DepositEntry[]>(join(directory, depositFile)),
    interchange: readJson<Interchange>(join(directory, "slashing_protection.json")),
  };
}

const secretsOf = (keys: Key[]) => Object.fromEntries(keys.map(({ pubkey, secret_key }) => [pubkey, secret_key]));

it("exports the keys of a chain before its first start, and with what was signed after it", async () => {
  const dataDir = tempDirectory();
  const chain = [...CHAIN, "--withdrawal-credentials", `2=0x01:${ADDRESS}`, "--data-dir", dataDir];
  const early = join(tempDirectory(), "keys");
  expect((await fanal("dev", "keys", "export", early, ...chain, "--no-evm")).code).toBe(0);

  const program = await ProgramHere.dev([...chain, "--no-auto", "--warmup-epochs", "1"]);
  const keys = await program.call<Key[]>("dev_keys");
  const genesis = await program.call<Record<string, string>>("get_v1_beacon_genesis");
  const running = await fanal("dev", "keys", "export", join(tempDirectory(), "keys"), "--data-dir", dataDir);
  expect(running).toMatchObject({ code: 4, output: expect.stringContaining("in use") });
  await program.stop();

  const before = readExport(early);
  expect(before.names[0]).toMatch(/^keystore-m_12381_3600_0_0_0-\d+\.json$/);
  expect(before.secrets).toEqual(secretsOf(keys));
  expect(before.interchange).toEqual({
    metadata: { interchange_format_version: "5", genesis_validators_root: genesis.genesis_validators_root },
    data: keys.map(({ pubkey }) => ({ pubkey, signed_blocks: [], signed_attestations: [] })),
  });
  expect(before.deposits[2]).toMatchObject({
    withdrawal_credentials: `01${"00".repeat(11)}${ADDRESS.slice(2)}`,
    amount: 32_000_000_000,
    fork_version: genesis.genesis_fork_version!.slice(2),
  });
  const config = createChainForkConfig({ GENESIS_FORK_VERSION: fromHex(genesis.genesis_fork_version!) });
  for (const entry of before.deposits) {
    const { deposit_message_root, deposit_data_root } = entry;
    const deposit = ssz.phase0.DepositData.fromJson({ ...entry, amount: String(entry.amount) });
    expect(isDepositSignatureValid(config, deposit)).toBe(true);
    expect(toHex(ssz.phase0.DepositMessage.hashTreeRoot(deposit)).slice(2)).toBe(deposit_message_root);
    expect(toHex(ssz.phase0.DepositData.hashTreeRoot(deposit)).slice(2)).toBe(deposit_data_root);
  }

  // The stored chain needs no flags. Index 8 has the key of the next deposit.
  const late = join(tempDirectory(), "keys");
  const exported = await fanal("dev", "keys", "export", late, "--data-dir", dataDir, "--indices", "0-3,8");
  expect(exported).toMatchObject({ code: 0, output: expect.stringContaining("of 5 validators") });
  const after = readExport(late);
  expect(Object.keys(after.secrets)).toHaveLength(5);
  expect(after.secrets).toMatchObject(secretsOf(keys.slice(0, 4)));
  expect(after.interchange.data[0]!.signed_attestations).toEqual([{ source_epoch: "0", target_epoch: "0" }]);
  expect(after.interchange.data.slice(0, 4).some(({ signed_blocks }) => signed_blocks.length > 0)).toBe(true);
  expect(after.interchange.data[4]).toMatchObject({ signed_blocks: [], signed_attestations: [] });
});

it("refuses a used directory, another chain and wrong operands", async () => {
  const dataDir = tempDirectory();
  const program = await ProgramHere.dev([...CHAIN, "--data-dir", dataDir, "--no-auto", "--warmup-epochs", "0"]);
  await program.stop();
  expect(await fanal("dev", "keys", "export", dataDir, ...CHAIN, "--data-dir", tempDirectory())).toMatchObject({
    code: 2,
    output: expect.stringContaining("is not empty"),
  });
  const target = join(tempDirectory(), "keys");
  expect(await fanal("dev", "keys", "export", target, "--data-dir", dataDir, "--validators", "9")).toMatchObject({
    code: 5,
    output: expect.stringContaining("the number of validators is 8"),
  });
  for (const [operands, complaint] of [
    [[], "Missing action"],
    [["import", "x"], 'Unknown action "import"'],
    [["export"], "requires a directory"],
    [["export", "x", "y"], 'Unexpected argument "y"'],
  ] as const) {
    expect(await fanal("dev", "keys", ...operands)).toMatchObject({
      code: 2,
      output: expect.stringContaining(complaint),
    });
  }
});
