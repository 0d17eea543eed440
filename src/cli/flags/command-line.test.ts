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
  it("gives what was written, by the name of the flag", () => {
    expect(parse("dev", "--rpc", "--datadir", "x", "--fork-at", "altair=1", "--fork-at", "deneb=2")).toEqual({
      kind: "run",
      command: "dev",
      given: new Map([
        ["fork-at", ["altair=1", "deneb=2"]],
        ["data-dir", ["x"]],
        ["rpc", ["true"]],
      ]),
    });
    expect(parse("node")).toEqual({ kind: "run", command: "node", given: new Map() });
  });

  it("gives what stands beside the flags of a command that takes more than flags", () => {
    const call = (...argv: string[]) => {
      const line = parse("call", ...argv);
      return line.kind === "run" ? [line.operands, Object.fromEntries(line.given)] : line;
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

  it("prints the version and the help by their long and short flags, also after a command", () => {
    for (const argv of [["--version"], ["-V"], ["dev", "--version"], ["call", "getX", "-V"]]) {
      expect(printed(...argv)).toEqual({ kind: "print", text: "fanal 1.2.3\n", wasAskedFor: true });
    }
    for (const argv of [["-h"], ["help"], ["help", "-h"], ["help", "help"]]) {
      expect(printed(...argv)).toEqual(printed("--help"));
    }
    for (const command of COMMAND_NAMES) expect(printed(command, "-h")).toEqual(printed(command, "--help"));
    expect(parse("call", "getX", "--", "-h")).toMatchObject({ kind: "run", operands: ["getX", "-h"] });
  });

  it("describes every flag with its variable and its default in the help", () => {
    for (const command of COMMAND_NAMES) {
      const help = printed(command, "--help").text.replace(/\s+/g, " ");
      for (const flag of Object.values<Flag<unknown>>(COMMANDS[command].flags)) {
        expect(help).toContain(` --${flag.name} `);
        expect(help).toContain(environmentName(flag.name));
        if (flag.fallbackText !== undefined) expect(help).toContain(`default: ${flag.fallbackText}`);
      }
      expect(printed("help", command).text).toBe(printed(command, "--help").text);
    }
  });

  it("shows the help, though nobody asked, when there is no command", () => {
    const line = printed();
    expect(line.wasAskedFor).toBe(false);
    expect(line.text).toContain("Usage: fanal <command>");
  });

  const refused: [argv: string, complaint: string][] = [
    ["dev --rpc-prot 1", "The flag --rpc-prot is not known. Did you mean --rpc-port?"],
    ["dev --rpc-prot=1", "The flag --rpc-prot is not known. Did you mean --rpc-port?"],
    ["dev --rpc --no-reste", "The flag --no-reste is not known. Did you mean --reset?"],
    ["dev --zzzzzzzz", 'The flag --zzzzzzzz is not known. "fanal dev --help" lists the flags.'],
    ["dev -p", "The flag -p is not known."],
    ["dev --rpc=yes", "The flag --rpc cannot be written that way"],
    ["node --rpc=yes", "The flag --rpc cannot be written that way"],
    ["node --validators 8", 'The flag --validators belongs to "fanal dev", not to "fanal node".'],
    ["dev now", 'The argument "now" is not expected'],
    ["dve", 'The command "dve" is not known. Did you mean dev?'],
    [
      "something",
      'The command "something" is not known. The commands are dev, node, gateway, call, console, db, methods and completion.',
    ],
    ["--rpc-port 1 dev", 'it must follow it, as in "fanal dev --rpc-port"'],
    ["--versoin", "The flag --versoin is not known. Did you mean --version?"],
    ["call getX --jsno", "The flag --jsno is not known. Did you mean --json?"],
    ["call getX --rpc-port 1", 'The flag --rpc-port belongs to "fanal dev", not to "fanal call".'],
    ["call getX -v -- x", "The flag -v is not known. Did you mean -V?"],
    ["-v", "The flag -v is not known. Did you mean -V?"],
    ["--zzzzzzzz", 'The flag --zzzzzzzz is not known. "fanal --help" lists the commands.'],
    ["dev --versoin", "The flag --versoin is not known. Did you mean --version?"],
    ["help dve", 'The command "dve" is not known. Did you mean dev?'],
    ["dev --rpc-port", "The flag --rpc-port needs a value: --rpc-port PORT."],
  ];
  for (const [argv, complaint] of refused) {
    it(`refuses ${argv}`, () => {
      expect(() => parse(...argv.split(" "))).toThrow(StartupError);
      expect(() => parse(...argv.split(" "))).toThrow(complaint);
    });
  }
});
