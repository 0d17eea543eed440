import { DOCTOR_FLAGS } from "./doctor-flags.ts";
import type { FlagTable } from "./flag.ts";
import { CALL_FLAGS, DB_FLAGS, DEV_FLAGS, METHODS_FLAGS, NODE_FLAGS } from "./flags.ts";
import { GATEWAY_FLAGS } from "./gateway-flags.ts";

export interface CommandDefinition {
  readonly description: string;
  readonly flags: FlagTable;
  /** What stands beside the flags, as the help writes it; undefined for a command that takes nothing but flags. */
  readonly operands?: string;
  /** What the help says after the flags. */
  readonly notes: string;
}

const PRECEDENCE = `
A flag without a value is switched off again by --no-NAME. A flag beats its
environment variable, which beats the config file, which beats the default.`;

const DEV_NOTES = `
A chain that is stored goes on with what it was made with: defaults are for new
ones, and a flag that says something else is refused.
${PRECEDENCE}`;

const GATEWAY_NOTES = `
Examples:
  fanal gateway --upstream http://10.0.0.1:5052 --upstream http://10.0.0.2:5052
  fanal gateway --upstream http://10.0.0.1:5052 \\
    --upstream "https://beacon.example tier=1 token-file=beacon.token"

An upstream of a later tier is asked only when none of an earlier one can be, or
no other where one more is asked: for what the first refuses, or is slow with.
Credentials stand in a file (token-file, as a bearer token) or in the URL.
${PRECEDENCE}`;

const CALL_NOTES = `
A PARAM is JSON if it can be read as JSON, and otherwise a string, so that head
and 0x12 need no quotes. @FILE stands for the JSON in a file, - for the JSON on
standard input; '"@text"' is the string @text. After -- nothing is a flag.
Parameters are given by position or, as NAME=PARAM, by name; null leaves one out.

Examples:
  fanal call getChainHead
  fanal call get_v1_beacon_states_stateId_validators head '["0","1"]'
  fanal call dev_advance until=finalized limit=100
  fanal call post_v1_beacon_pool_voluntary_exits @exit.json
  fanal call get_v1_debug_beacon_states_stateId head --json > state.json

Exit codes: 0 the call succeeded, 1 the node answered with an error, 2 the
arguments are wrong, 8 the node cannot be reached or sent no answer.`;

const CONSOLE_NOTES = `
A line is what stands after "fanal call": a method, its parameters, flags. TAB
completes; [ and { begin JSON that needs no quotes. Besides:
  subscribe TOPIC...  prints events as they come, until Enter or Ctrl-C
  help [WORD...]      as "fanal methods" does it
  .exit               ends the console, as Ctrl-D does; Ctrl-C cancels a call

The history is kept in $XDG_STATE_HOME/fanal, by default ~/.local/state/fanal, but
for lines that begin with a blank. When the input is no terminal its lines are
run without a prompt, events are printed until the next line or the end of the
input, and the exit code is that of the last line that failed.`;

const METHODS_NOTES = `
With words, only the methods that have them all in a name, the summary or a REST
path; with the name of a method, all that is known of it.

Examples:
  fanal methods sync committee
  fanal methods /eth/v1/beacon/pool
  fanal methods get_v1_beacon_headers

docs/methods.md has the same methods with examples; a node tells them to
programs by its method rpc.discover.`;

const DOCTOR_NOTES = `
A URL is where a beacon node, of whichever client, serves the standard REST API. Each is
asked one thing at a time, and nothing is submitted but empty lists.

Examples:
  fanal doctor http://127.0.0.1:5052 http://127.0.0.1:5051
  fanal doctor https://user:password@node.example --json

Exit codes: 0 all is well, 1 something is wrong with an upstream (it cannot be
reached, is behind, fails or differs), 2 the arguments are wrong, 6 the token
file cannot be read.`;

const DB_NOTES = `
The node must not run meanwhile, and whoever runs this must be able to write to the
data directory, also where it is only read.
  check        read everything, and say whether it is whole
  repair       keep of a damaged database the chain that can still be read, and
               say what is lost; the damaged one is moved aside, not deleted
  compact      give room back that deleted entries still take
  export FILE  write the chain into a new file
  import FILE  read such a file into an empty data directory; it is checked by
               hashes, not executed, so it must come from somebody you trust

Exit codes: 0 all is well, 2 the arguments are wrong, 4 the node runs, 5 the
data directory holds another chain, or is of a newer version, 6 the file cannot be
used, 7 the data directory cannot be opened, or what it holds is damaged, 9 it
could not be written.`;

const COMPLETION_NOTES = `
For this shell, and for those to come:
  bash  source <(fanal completion bash)
        fanal completion bash > ~/.local/share/bash-completion/completions/fanal
  zsh   source <(fanal completion zsh)
        fanal completion zsh > DIR/_fanal, with DIR in $fpath
  fish  fanal completion fish | source
        fanal completion fish > ~/.config/fish/completions/fanal.fish`;

export const COMMANDS = {
  dev: {
    description: "Run a beacon chain of your own, with all its validators, in this process",
    flags: DEV_FLAGS,
    notes: DEV_NOTES,
  },
  node: { description: "Run a beacon node on a network", flags: NODE_FLAGS, notes: PRECEDENCE },
  gateway: {
    description: "Serve JSON-RPC, WebSocket, REST and events in front of beacon nodes that run elsewhere",
    flags: GATEWAY_FLAGS,
    notes: GATEWAY_NOTES,
  },
  call: {
    description: "Call a method of a running node",
    flags: CALL_FLAGS,
    operands: "METHOD [PARAM...]",
    notes: CALL_NOTES,
  },
  console: {
    description: "Call methods of a running node from a prompt, with completion and history",
    flags: CALL_FLAGS,
    notes: CONSOLE_NOTES,
  },
  doctor: {
    description: "Tell what beacon nodes are, how far they are, what they answer, how fast, and where they differ",
    flags: DOCTOR_FLAGS,
    operands: "URL...",
    notes: DOCTOR_NOTES,
  },
  db: {
    description: "Check, repair, compact, export or import the database of a node",
    flags: DB_FLAGS,
    operands: "check|repair|compact|export FILE|import FILE",
    notes: DB_NOTES,
  },
  methods: {
    description: "List the methods that can be called, or those with certain words, or all about one",
    flags: METHODS_FLAGS,
    operands: "[WORD...]",
    notes: METHODS_NOTES,
  },
  completion: {
    description: "Print what has a shell complete commands, flags and methods",
    flags: {},
    operands: "bash|zsh|fish",
    notes: COMPLETION_NOTES,
  },
} as const satisfies Record<string, CommandDefinition>;

export type CommandName = keyof typeof COMMANDS;
/** The commands that run until they are stopped. */
export type NodeCommandName = "dev" | "node" | "gateway";
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];
