import { describe, expect, it } from "vitest";
import { StartupError } from "../exit.ts";
import { parseCommandLine } from "./command-line.ts";
import { COMMAND_NAMES, COMMANDS } from "./commands.ts";
import { environmentName, type Flag } from "./flag.ts";

const parse = (...argv: string[]) => parseCommandLine(argv, "1.2.3");
const printed = (...argv: string[]) => {
  const line = parse(...argv);
  if (line.kind !== "print") throw new Error("The arguments print nothing.");
  return line;
};

describe("command line", () => {
  it("returns given values by flag name", () => {
    expect(parse("dev", "--rpc", "--datadir", "x", "--fork-at", "altair=1", "--fork-at", "deneb=2")).toEqual({
      kind: "run",
      command: "dev",
      flagTexts: new Map([
        ["fork-at", ["altair=1", "deneb=2"]],
        ["data-dir", ["x"]],
        ["rpc", ["true"]],
      ]),
    });
    expect(parse("node")).toEqual({ kind: "run", command: "node", flagTexts: new Map() });
  });

  it("returns the operands of a command", () => {
    const call = (...argv: string[]) => {
      const line = parse("call", ...argv);
      return line.kind === "run" ? [line.operands, Object.fromEntries(line.flagTexts)] : line;
    };
    expect(call("getX", "head", "--json", "-", "-1", "-.5e3", "--url", "http://a")).toEqual([
      ["getX", "head", "-", "-1", "-.5e3"],
      { json: ["true"], url: ["http://a"] },
    ]);
    expect(call("--meta", "getX", "--", "--json", "-x", "--")).toEqual([
      ["getX", "--json", "-x", "--"],
      { meta: ["true"] },
    ]);
    expect(call()).toEqual([[], {}]);
    expect(printed("call", "getX", "--help").text).toContain("Usage: fanal call METHOD [PARAM...] [flags]");
  });

  it("parses the command of another one", () => {
    expect(parse("dev", "keys", "export", "a", "--validators", "8")).toEqual({
      kind: "run",
      command: "dev keys",
      flagTexts: new Map([["validators", ["8"]]]),
      operands: ["export", "a"],
    });
    expect(printed("dev", "keys", "--help").text).toContain("Usage: fanal dev keys export DIR [flags]");
    expect(printed("dev", "--help").text).toContain("keys");
  });

  it("prints version and help for long and short flags, also after a command", () => {
    for (const argv of [["--version"], ["-V"], ["dev", "--version"], ["call", "getX", "-V"]]) {
      expect(printed(...argv)).toEqual({ kind: "print", text: "fanal 1.2.3\n", isRequested: true });
    }
    for (const argv of [["-h"], ["help"], ["help", "-h"], ["help", "help"]]) {
      expect(printed(...argv)).toEqual(printed("--help"));
    }
    for (const command of COMMAND_NAMES) {
      const words = command.split(" ");
      expect(printed(...words, "-h")).toEqual(printed(...words, "--help"));
    }
    expect(parse("call", "getX", "--", "-h")).toMatchObject({ kind: "run", operands: ["getX", "-h"] });
  });

  it("describes every flag with its variable and its default in the help", () => {
    for (const command of COMMAND_NAMES) {
      const words = command.split(" ");
      const help = printed(...words, "--help").text.replace(/\s+/g, " ");
      for (const flag of Object.values<Flag<unknown>>(COMMANDS[command].flags)) {
        expect(help).toContain(` --${flag.name} `);
        expect(help).toContain(environmentName(flag.name));
        if (flag.fallbackText !== undefined) expect(help).toContain(`default: ${flag.fallbackText}`);
      }
      expect(printed("help", ...words).text).toBe(printed(...words, "--help").text);
    }
  });

  it("shows the help if the command is missing", () => {
    const line = printed();
    expect(line.isRequested).toBe(false);
    expect(line.text).toContain("Usage: fanal <command>");
  });

  const refused: [argv: string, complaint: string][] = [
    ["dev --rpc-prot 1", "Unknown flag --rpc-prot. Did you mean --rpc-port?"],
    ["dev --rpc-prot=1", "Unknown flag --rpc-prot. Did you mean --rpc-port?"],
    ["dev --rpc --no-reste", "Unknown flag --no-reste. Did you mean --reset?"],
    ["dev --zzzzzzzz", 'Unknown flag --zzzzzzzz. "fanal dev --help" lists the flags.'],
    ["dev -p", "Unknown flag -p."],
    ["dev --port 8545", "Unknown flag --port. Anvil's --port is --eth-rpc-port here, or --rpc-port"],
    ["dev --host 0.0.0.0", "Unknown flag --host. Anvil's --host is --eth-rpc-address here"],
    ["dev --gas-limit=30000000", "Anvil's --gas-limit is the method evm_setBlockGasLimit here."],
    ["dev --block-time 2", "Anvil's --block-time is --slot-seconds here, since each slot has a block."],
    ["dev --accounts 20", "ten accounts are funded, and the method anvil_setBalance funds others."],
    ["dev --balance 1", "Anvil's --balance is the method anvil_setBalance here; --balances sets those of validators."],
    ["dev --fork-url http://a", "a dev chain starts from its own genesis and cannot fork another chain."],
    ["dev -p 8545", "Unknown flag -p. Anvil's -p is --eth-rpc-port here"],
    ["dev -b 2", "Anvil's -b is --slot-seconds here, since each slot has a block."],
    ["dev --no-mining", "Anvil's --no-mining is --no-auto here: the chain then advances for transactions"],
    ["dev --no-cors", "Anvil's --no-cors is not needed: --rpc-allow-origin names the origins"],
    ["node -p 1", 'Unknown flag -p. "fanal node --help" lists the flags.'],
    ["node --port 1", "Unknown flag --port. Did you mean"],
    ["dev --rpc=yes", "Invalid use of the flag --rpc"],
    ["node --rpc=yes", "Invalid use of the flag --rpc"],
    ["node --validators 8", 'The flag --validators belongs to "fanal dev", not to "fanal node".'],
    ["dev now", 'Unexpected argument "now"'],
    ["dve", 'Unknown command "dve". Did you mean dev?'],
    [
      "something",
      'Unknown command "something". The commands are dev, node, gateway, call, console, doctor, db, methods and completion.',
    ],
    ["--rpc-port 1 dev", 'must follow the command, as in "fanal dev --rpc-port"'],
    ["--versoin", "Unknown flag --versoin. Did you mean --version?"],
    ["call getX --jsno", "Unknown flag --jsno. Did you mean --json?"],
    ["call getX --rpc-port 1", 'The flag --rpc-port belongs to "fanal dev", not to "fanal call".'],
    ["call getX -v -- x", "Unknown flag -v. Did you mean -V?"],
    ["-v", "Unknown flag -v. Did you mean -V?"],
    ["--zzzzzzzz", 'Unknown flag --zzzzzzzz. "fanal --help" lists the commands.'],
    ["dev --versoin", "Unknown flag --versoin. Did you mean --version?"],
    ["help dve", 'Unknown command "dve". Did you mean dev?'],
    ["dev --rpc-port", "The flag --rpc-port requires a value: --rpc-port PORT."],
  ];
  for (const [argv, complaint] of refused) {
    it(`rejects ${argv}`, () => {
      expect(() => parse(...argv.split(" "))).toThrow(StartupError);
      expect(() => parse(...argv.split(" "))).toThrow(complaint);
    });
  }
});
