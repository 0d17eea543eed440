import { once } from "node:events";
import { cpSync, existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SCHEMA_VERSION } from "../../src/db/open-database.ts";
import { inDataDirectory } from "../support/directories/data-directory.ts";
import { writeNetworkDirectory } from "../support/directories/network-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { devFlags, madeDevChain, refusal } from "../support/program/refusals.ts";
import { isFullTier } from "../support/suite/tier.ts";

// Starts many programs, each of which may take long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

/** Nothing was damaged: the program starts with the right flags. */
async function expectStarts(args: string[]): Promise<void> {
  const program = await ProgramHere.served(args);
  expect(await program.call("getChainHead")).toMatchObject({ head_slot: expect.any(String) });
  expect(program.output).not.toMatch(/ (WARN|ERROR|FATAL) /);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
}

it("a port in use", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const flags = devFlags(tempDirectory());
  const sentence = await refusal([...flags, "--rpc", "--rpc-port", String(port)], "listen");
  expect(sentence).toBe(
    `Port ${port} of 127.0.0.1 is in use by another process; stop that one, or give another --rpc-port.`,
  );
  await expectStarts(flags);
});

it("an address of another machine", async () => {
  // From a range that is reserved for documentation (RFC 5737).
  const flags = [...devFlags(tempDirectory()), "--rpc", "--rpc-address", "192.0.2.1", "--rpc-allow-anyone"];
  expect(await refusal(flags, "listen")).toMatch(
    /^The JSON-RPC server cannot listen on 192\.0\.2\.1:9190: .*EADDRNOTAVAIL/,
  );
});

describe("a data directory of another chain", () => {
  it("all different parameters of a dev chain are listed", async () => {
    const dataDir = tempDirectory();
    await madeDevChain(dataDir);
    const flags = ["dev", "--data-dir", dataDir, "--validators", "9", "--fork", "altair", "--slot-seconds", "3"];
    expect(await refusal(flags, "dataDirMismatch")).toBe(
      `The data directory ${dataDir} holds a dev chain with other parameters: the number of validators is 8 (requested: 9), ` +
        "the fork schedule is phase0=0 (requested: phase0=0 altair=0), the slot time is 2 s (requested: 3 s); " +
        "give the flags it was created with, another --data-dir, or --reset to start over.",
    );
    await expectStarts(devFlags(dataDir));
  });

  it("data directories of node, dev and another network are not mixed up", async () => {
    const devDir = tempDirectory();
    const nodeDir = tempDirectory();
    const { config, genesis } = await madeDevChain(devDir);
    const network = writeNetworkDirectory(join(tempDirectory(), "smallnet"), config, genesis);
    const nodeFlags = ["node", "--no-p2p", "--network", network, "--data-dir"];

    expect(await refusal([...nodeFlags, devDir], "dataDirMismatch")).toBe(
      `The data directory ${devDir} holds a dev chain, not the chain of network "smallnet"; give another --data-dir.`,
    );
    await expectStarts([...nodeFlags, nodeDir]);
    // Even --reset does not delete a synced chain.
    expect(await refusal([...devFlags(nodeDir), "--reset"], "dataDirMismatch")).toBe(
      `The data directory ${nodeDir} holds the chain of a network, not a dev chain; give another --data-dir.`,
    );

    const other = await madeDevChain(tempDirectory(), { validators: 9 });
    const twin = writeNetworkDirectory(join(tempDirectory(), "smallnet"), other.config, other.genesis);
    expect(await refusal(["node", "--network", twin, "--data-dir", nodeDir], "dataDirMismatch")).toMatch(
      /holds another chain \(its genesis validators root is 0x[0-9a-f]{64}, not 0x[0-9a-f]{64}\)/,
    );
    await expectStarts([...nodeFlags, nodeDir]);
  });
});

it("a data directory of a newer schema, which is unchanged", async () => {
  const dataDir = tempDirectory();
  await madeDevChain(dataDir);
  const setSchema = async (version: number) => {
    await inDataDirectory(dataDir, async (db) => {
      const batch = db.batch();
      batch.meta.putSchemaVersion(version);
      await batch.write();
    });
  };
  await setSchema(SCHEMA_VERSION + 1);
  for (const reset of [[], ["--reset"]]) {
    expect(await refusal([...devFlags(dataDir), ...reset], "dataDirMismatch")).toBe(
      `The database at ${join(dataDir, "beacon-db")} has schema version ` +
        `${SCHEMA_VERSION + 1}, this version supports ${SCHEMA_VERSION}: use the newer version that wrote it.`,
    );
  }
});

it("a data directory that cannot be opened, or is damaged", async () => {
  const file = join(tempDirectory(), "file");
  writeFileSync(file, "");
  const noDirectories = [file, join(file, "below"), "/dev/null", "/proc", "/proc/self/none"];
  for (const path of noDirectories.filter((place) => existsSync("/proc/self") || !place.startsWith("/proc"))) {
    expect(await refusal(devFlags(path), "dataDirUnusable")).toMatch(
      new RegExp(`^The data directory ${path} cannot be opened: .*(EEXIST|ENOENT)`),
    );
  }

  const dataDir = tempDirectory();
  await madeDevChain(dataDir);
  const database = join(dataDir, "beacon-db");
  for (const name of readdirSync(database)) if (name.startsWith("MANIFEST")) truncateSync(join(database, name), 10);
  expect(await refusal(devFlags(dataDir), "dataDirUnusable")).toMatch(
    /^The database at \S+ is damaged: the file MANIFEST-\d+ is empty; "fanal db check" gives details, "fanal db repair" salvages what is readable; or restore a backup, or give another --data-dir\.$/,
  );
});

if (isFullTier) {
  it("--reset replaces a damaged dev chain, but neither a damaged network chain nor without a new chain", async () => {
    const network = tempDirectory();
    const whole = tempDirectory();
    const { config, genesis } = await madeDevChain(whole);
    const smallnet = writeNetworkDirectory(join(tempDirectory(), "smallnet"), config, genesis);
    await expectStarts(["node", "--no-p2p", "--network", smallnet, "--data-dir", network]);
    rmSync(join(network, "beacon-db", "CURRENT"));
    expect(await refusal([...devFlags(network), "--reset"], "dataDirUnusable")).toMatch(/the file CURRENT is missing/);
    expect(readdirSync(network)).toContain("beacon-db");

    // All files except LevelDB's own log of open attempts.
    const namesIn = (database: string) =>
      readdirSync(database)
        .filter((name) => !name.startsWith("LOG"))
        .sort();
    for (const lost of [/^CURRENT$/, /^MANIFEST/, /\.(ldb|log)$/]) {
      const dataDir = tempDirectory();
      cpSync(whole, dataDir, { recursive: true });
      const database = join(dataDir, "beacon-db");
      for (const name of readdirSync(database)) if (lost.test(name)) rmSync(join(database, name));
      const names = namesIn(database);
      await refusal([...devFlags(dataDir), "--reset", "--genesis-time", "9999999999"], "usage");
      expect(namesIn(database), String(lost)).toEqual(names);
      await refusal(devFlags(dataDir), "dataDirUnusable");
      await expectStarts([...devFlags(dataDir), "--reset"]);
      await expectStarts(devFlags(dataDir));
      expect(readdirSync(dataDir).sort()).toEqual(["beacon-db", "network"]);
    }
  });
}

it("a data directory in use by dev or fanal db, and a missing one", async () => {
  const dataDir = tempDirectory();
  const first = await Program.served(devFlags(dataDir));
  for (const name of readdirSync(join(dataDir, "beacon-db"))) {
    expect(statSync(join(dataDir, "beacon-db", name)).mode & 0o777, name).toBe(0o600);
  }
  const inUse = `The data directory ${dataDir} is in use by another process; stop that one, or give another --data-dir.`;
  expect(await refusal(devFlags(dataDir), "dataDirInUse")).toBe(inUse);
  expect(await refusal(["db", "check", "--data-dir", dataDir], "dataDirInUse")).toMatch(/is in use by another process/);
  expect(await first.call("getBeaconHead")).toEqual(expect.any(String));
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  expect(await refusal(["db", "check"], "usage")).toBe("Missing data directory. Give --data-dir.");
  const check = new ProgramHere(["db", "check", "--data-dir", dataDir]);
  expect(await check.exited, check.output).toEqual({ code: 0, signal: null });
  expect(check.output).toMatch(/No problems found\.$/);
});

it("states that cannot be used", async () => {
  const { config, genesis, head } = await madeDevChain(tempDirectory(), { slot: 3 });
  const altair = await madeDevChain(tempDirectory(), { fork: "altair" });
  const other = await madeDevChain(tempDirectory(), { validators: 9 });
  const directory = tempDirectory();
  const network = writeNetworkDirectory(join(directory, "smallnet"), config, genesis);
  const dataDir = join(directory, "data");
  const fileOf = (name: string, bytes: Uint8Array) => {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    return path;
  };
  const cases: [flag: string, source: string, complaint: RegExp][] = [
    [
      "--checkpoint-state",
      fileOf("cut.ssz", head.subarray(0, head.length - 1)),
      /it is not a complete phase0 state \(.+\)\.$/,
    ],
    [
      "--checkpoint-state",
      fileOf("short.ssz", head.subarray(0, 50)),
      /it has only 50 bytes, too few for a beacon state\.$/,
    ],
    [
      "--genesis-state",
      fileOf("garbage.ssz", new Uint8Array(5000).fill(0xa7)),
      /its fork version 0xa7a7a7a7 is unknown to network "fanal-dev"; .* or is not a state\.$/,
    ],
    [
      "--checkpoint-state",
      fileOf("altair.ssz", altair.head),
      /its fork version is 0x0100fa4a, but network "fanal-dev" is in phase0 \(0x0000fa4a\) at its slot 0\.$/,
    ],
    [
      "--checkpoint-state",
      fileOf("other.ssz", other.head),
      /does not belong to network "smallnet": its genesis validators root is 0x/,
    ],
    ["--checkpoint-state", join(directory, "absent.ssz"), /cannot be used: ENOENT: no such file/],
    [
      "--genesis-state",
      fileOf("late.ssz", head),
      /is not a genesis state: its slot is 3; --checkpoint-state starts from a later state\.$/,
    ],
  ];
  for (const [flag, source, complaint] of cases) {
    const sentence = await refusal(
      ["node", "--network", network, "--data-dir", dataDir, flag, source],
      "unreadableInput",
    );
    expect(sentence).toMatch(new RegExp(`^The state ${source} `));
    expect(sentence).toMatch(complaint);
  }
  const flags = ["node", "--no-p2p", "--network", network, "--data-dir", dataDir];
  await expectStarts([...flags, "--checkpoint-state", fileOf("head.ssz", head)]);
});

it("a state that a server does not provide, and no state", async () => {
  const { config } = await madeDevChain(tempDirectory());
  const network = writeNetworkDirectory(join(tempDirectory(), "smallnet"), config);
  const flags = ["node", "--network", network, "--data-dir", tempDirectory()];
  expect(await refusal(flags, "usage")).toBe(
    'A new node of network "smallnet" needs a state to start from: give --checkpoint-sync-url, or a file or a URL with ' +
      "--checkpoint-state or --genesis-state.",
  );
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/state`;
  expect(await refusal([...flags, "--checkpoint-state", url], "unreadableInput")).toBe(
    `The state ${url} cannot be used: the server responded 404 Not Found; there is no beacon node at this URL, or it does not serve states.`,
  );
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  expect(await refusal([...flags, "--checkpoint-state", url], "unreadableInput")).toMatch(/: .*ECONNREFUSED/);
});

it("a network directory that cannot be used", async () => {
  const directory = tempDirectory();
  const flags = ["node", "--network", directory, "--data-dir", join(directory, "data")];
  const file = join(directory, "config.yaml");
  expect(await refusal(flags, "unreadableInput")).toMatch(/^The network file \S+config\.yaml cannot be read: ENOENT/);
  const cases: [content: string, complaint: RegExp][] = [
    ["CONFIG_NAME: x\n", /has no PRESET_BASE; it must be mainnet, minimal or gnosis\.$/],
    ["PRESET_BASE: huge\n", /has the PRESET_BASE "huge"; it must be mainnet, minimal or gnosis\.$/],
    ["PRESET_BASE: 'minimal\n", /cannot be read: /],
    ["PRESET_BASE: minimal\nSECONDS_PER_SLOT: soon\n", /cannot be used: .*SECONDS_PER_SLOT/],
  ];
  for (const [content, complaint] of cases) {
    writeFileSync(file, content);
    expect(await refusal(flags, "unreadableInput")).toMatch(complaint);
  }
  rmSync(file);
});

it("invalid flags, variables and config files", async () => {
  const directory = tempDirectory();
  const fileOf = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const cases: [args: string[], complaint: RegExp][] = [
    [["--valdators", "8"], /^Unknown flag --valdators\. Did you mean --validators\?$/],
    [["--speed"], /--speed/],
    [["--config-file", join(directory, "absent.yaml")], /^The config file \S+absent\.yaml cannot be read: ENOENT/],
    [["--config-file", fileOf("c.json", "{}")], /Unsupported config file .* must end in \.yaml, \.yml or \.toml\.$/],
    [["--config-file", fileOf("bad.yaml", "speed: 'x\n")], /bad\.yaml is not valid: /],
    [["--config-file", fileOf("bad.toml", "speed = \n")], /bad\.toml is not valid: /],
    [["--config-file", fileOf("list.yaml", "- speed\n")], /list\.yaml/],
    [
      ["--config-file", fileOf("key.yaml", "sped: 2\n")],
      /^The config file \S+ is not valid: sped is unknown; did you mean speed\?$/,
    ],
    [
      ["--config-file", fileOf("node.toml", 'network = "x"\n')],
      /belongs to "fanal node", not to "fanal dev"; remove it\.$/,
    ],
    [
      ["--config-file", fileOf("value.yaml", "speed: fast\n")],
      /^The config file \S+ is not valid: speed must be a number .*, got "fast"\.$/,
    ],
    [
      ["--genesis-time", "0"],
      /^The value "0" of --genesis-time is not accepted: it must be a whole number from 1 to \d+\.$/,
    ],
    [["--genesis-time", "9007199254740991"], /^The value \S+ of --genesis-time is not accepted: /],
    [
      ["--slot-seconds", "99999999999999"],
      /of --slot-seconds is not accepted: it must be a whole number from 1 to 31536000\.$/,
    ],
    [
      ["--warmup-epochs", "99999999999"],
      /^The genesis time would be before 1970: with --slot-seconds 2, --warmup-epochs can be at most \d+, got 99999999999\.$/,
    ],
    [["--slot-seconds", "100000", "--warmup-epochs", "3000"], /^The genesis time would be before 1970: /],
    [["--genesis-time", "1700000000", "--warmup-epochs", "99999999999"], /^The genesis time would be before 1970: /],
  ];
  for (const [args, complaint] of cases) {
    const sentence = await refusal(["dev", "--data-dir", join(directory, "data"), ...args], "usage");
    expect(sentence).toMatch(complaint);
  }
  // Early rejections do not create the directory.
  expect(readdirSync(directory)).not.toContain("data");
});
