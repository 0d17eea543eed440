import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const run = promisify(execFile);

interface ChainHead {
  head_slot: string;
  finalized_slot: string;
}

it("a first run serves a chain with history, and its printed curl command works", async () => {
  const env = { FANAL_EVM: "", FANAL_ETH_RPC: "", FANAL_ETH_RPC_PORT: "0" };
  const program = await Program.dev(["--data-dir", tempDirectory(), "--speed", "20"], { env });
  await program.untilLine(/Chain id 31337/);
  const [, curl] = await program.untilLine(/Try: (curl .+)$/);
  const { stdout } = await run("/bin/sh", ["-c", curl!]);
  expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: "2.0", id: 1, result: { head_slot: expect.any(String) } });

  // The history of five epochs is produced at once. In real time it would take 80 seconds.
  await program.untilLine(/Dev chain is running/);
  const atStart: ChainHead = await program.call("getChainHead");
  expect(Number(atStart.head_slot)).toBeGreaterThanOrEqual(40);
  expect(Number(atStart.finalized_slot)).toBeGreaterThanOrEqual(16);

  // Genesis is set back by that history, so chain time is close to the wall clock.
  const { genesis_time } = await program.call("get_v1_beacon_genesis");
  expect(Number(genesis_time)).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) - 80);

  // Blocks and finality continue automatically.
  const later = await program.callUntil<ChainHead>(
    "getChainHead",
    ({ finalized_slot }) => Number(finalized_slot) > Number(atStart.finalized_slot),
  );
  expect(Number(later.head_slot)).toBeGreaterThan(Number(atStart.head_slot));
  expect(program.errors).toEqual([]);
  expect(program.complaints).toEqual([]);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

it("a chain prints its first keys, and keeps its parameters when restarted without flags", async () => {
  const dataDir = tempDirectory();
  const flags =
    "--validators 16 --fork phase0 --slot-seconds 30 --warmup-epochs 0 --interop-keys 100 " +
    "--config SHARD_COMMITTEE_PERIOD=9 --withdrawal-credentials 0x01 --balances 33,15=16";
  const made = await ProgramHere.dev(["--data-dir", dataDir, "--log-format", "json", ...flags.split(" ")]);
  const log = made.lines.map((line): Record<string, unknown> => JSON.parse(line));
  expect(log[0]).toMatchObject({
    msg: "Starting Fanal",
    ...{ preset: "minimal", forks: ["phase0"], validators: 16, slotSeconds: 30, dataDir },
  });
  expect(log.map(({ msg }) => msg)).toContainEqual(expect.stringContaining("never use them on another chain"));
  const [key] = await made.call("dev_keys", [0, 0]);
  expect(log.find(({ msg, index }) => msg === "Validator key" && index === 0)).toMatchObject({
    publicKey: key.pubkey,
    secretKey: key.secret_key,
    withdrawalCredentials: key.withdrawal_credentials,
  });
  const validators = await made.call("get_v1_beacon_states_stateId_validators", ["genesis"]);
  expect(validators.at(0)).toMatchObject({
    balance: "33000000000",
    validator: { pubkey: key.pubkey, effective_balance: "32000000000" },
  });
  expect(validators.at(-1)).toMatchObject({ status: "pending_initialized", balance: "16000000000" });
  await made.stop();

  const again = await ProgramHere.dev(["--data-dir", dataDir]);
  expect(again.lines[0]).toMatch(/preset=minimal forks=\["phase0"\] validators=16 slotSeconds=30 .*dataDir=\S/);
  expect(await again.call("dev_keys", [0, 0])).toEqual([key]);
  expect(await again.call("get_v1_beacon_states_stateId_validators", ["genesis"])).toEqual(validators);
  expect(await again.call("get_v1_config_spec")).toMatchObject({ SHARD_COMMITTEE_PERIOD: "9", SLOTS_PER_EPOCH: "8" });
  expect(readFileSync(join(dataDir, "network/config.yaml"), "utf8")).toContain("\nSHARD_COMMITTEE_PERIOD: 9\n");
  await again.stop();

  const other = new ProgramHere(["dev", "--data-dir", dataDir, "--balances", "34", "--interop-keys", "7"]);
  expect(await other.exited).toEqual({ code: EXIT_CODES.dataDirMismatch, signal: null });
  expect(other.errors.join()).toContain(
    "the key source is interop keys from 100 on (requested: interop keys from 7 on), " +
      "the balance setting is 15=16,33 ETH (requested: 34 ETH);",
  );
});

it("without --rpc nothing is served", async () => {
  const program = new ProgramHere(["dev", "--data-dir", tempDirectory(), "--warmup-epochs", "1", "--validators", "8"]);
  await program.untilLine(/Dev chain is running/);
  expect(program.output).toMatch(/JSON-RPC server is off, enable it with --rpc/);
  expect(program.output).not.toMatch(/http:/);
});

it("an address that other machines can reach requires a token", async () => {
  const directory = tempDirectory();
  const flags = ["--data-dir", join(directory, "data"), "--warmup-epochs", "0", "--validators", "8"];
  const open = [...flags, "--rpc-address", "0.0.0.0"];
  const refused = new ProgramHere(["dev", ...open, "--rpc"]);
  expect(await refused.exited).toEqual({ code: EXIT_CODES.usage, signal: null });
  expect(refused.errors).toEqual([
    expect.stringMatching(/--rpc-token-file FILE.*--rpc-allow-anyone.*such as 127\.0\.0\.1/),
  ]);

  const tokenFile = join(directory, "token");
  const program = await ProgramHere.dev([...open, "--rpc-token-file", tokenFile]);
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(tokenFile, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  const [, curl] = await program.untilLine(/Try: (curl .+)$/);
  const { stdout } = await run("/bin/sh", ["-c", curl!]);
  expect(JSON.parse(stdout)).toMatchObject({ result: { head_slot: expect.any(String) } });
  expect(program.output).not.toMatch(/ (WARN|ERROR|FATAL) /);

  const call = async (...args: string[]) => {
    const { exited, lines, errors } = new ProgramHere(["call", ...args, "--url", program.url]);
    return { code: (await exited).code, lines, errors };
  };
  const denied = await call("setGraffiti", "by token", "--token-file", tokenFile);
  expect(denied.errors.join()).toContain("--rpc-api");
  expect(await call("getSyncing", "--token-file", tokenFile)).toMatchObject({ code: 0, lines: ["false"] });
  expect(await call("getSyncing")).toMatchObject({
    code: EXIT_CODES.internal,
    errors: [
      expect.stringMatching(
        /^fanal: The server at \S+ rejected the call: The Authorization header is missing.*--token-file/,
      ),
    ],
  });
});
