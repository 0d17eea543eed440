import { DEV_FLAGS } from "./dev/dev-flags.ts";
import { DEV_KEYS_FLAGS } from "./dev/dev-keys-flags.ts";
import type { FlagTable } from "./flag.ts";
import { GATEWAY_FLAGS } from "./gateway/gateway-flags.ts";
import { NODE_FLAGS } from "./node/node-flags.ts";
import { CALL_FLAGS, DB_FLAGS, DOCTOR_FLAGS, METHODS_FLAGS } from "./tool-flags.ts";

export interface CommandDefinition {
  readonly description: string;
  readonly flags: FlagTable;
  /** Names of the flags listed first in the help. Undefined for a help text without headings. */
  readonly common?: readonly string[];
  /** Positional arguments as shown in the usage line, or undefined for a command that takes only flags. */
  readonly operands?: string;
  /** Help text that follows the flags. */
  readonly notes: string;
}

const PRECEDENCE = `
--no-NAME switches off a flag without a value. Precedence: flag, environment
variable, config file, default.`;

const DEV_NOTES = `
A stored chain keeps the parameters it was created with. Defaults apply to new
chains only, and a conflicting flag is an error.
${PRECEDENCE}`;

const DEV_KEYS_NOTES = `
Writes EIP-2335 keystores with their passwords, deposit data and EIP-3076 slashing
protection data to a new directory, for a validator client. The chain is that of
the data directory, which must be stopped, or the one that "fanal dev" would start
with the same flags.

Examples:
  fanal dev keys export keys --validators 32
  fanal dev keys export keys --indices 0-15 --data-dir chain

Exit codes: 0 success, 2 invalid arguments, 4 the chain is running, 5 the data
directory holds another chain, 7 it cannot be opened, 9 a write failed.`;

const GATEWAY_NOTES = `
Examples:
  fanal gateway --upstream http://10.0.0.1:5052 --upstream http://10.0.0.2:5052
  fanal gateway --upstream http://10.0.0.1:5052 \\
    --upstream "https://beacon.example tier=1 token-file=beacon.token"

Upstreams of a higher tier are used only if none of a lower tier is available, or
as the next choice for a retry or a hedged request. Credentials are given in a
file (token-file, as a bearer token) or in the URL.

A config file also takes structured upstreams, clients with keys and budgets, and
policies of methods, as in docs/gateway.md.
  check FILE  validate a config file and exit
  key         print a new client key and the hash for the config file
${PRECEDENCE}`;

const CALL_NOTES = `
A PARAM is JSON if it parses as JSON, and otherwise a string, so head and 0x12
need no quotes. @FILE reads JSON from a file, - from standard input; '"@text"' is
the string @text. Arguments after -- are never flags. Parameters are given by
position or by name, as NAME=PARAM; null omits one.

A node on this machine may still be starting: if its port refuses connections,
the call waits until the node is ready, for up to 30 seconds or the timeout if
it is shorter.

Examples:
  fanal call getChainHead
  fanal call get_v1_beacon_states_stateId_validators head '["0","1"]'
  fanal call dev_advance until=finalized limit=100
  fanal call post_v1_beacon_pool_voluntary_exits @exit.json
  fanal call get_v1_debug_beacon_states_stateId head --json > state.json

Exit codes: 0 the call succeeded, 1 the node returned an error, 2 invalid
arguments, 8 the node is unreachable or sent no valid response.`;

const CONSOLE_NOTES = `
A line has the arguments of "fanal call": a method, its parameters, flags. TAB
completes; [ and { start JSON that needs no quotes. Other commands:
  subscribe TOPIC...  print events until Enter or Ctrl-C
  help [WORD...]      same as "fanal methods"
  .exit               quit, like Ctrl-D; Ctrl-C cancels a call

The history is kept in $XDG_STATE_HOME/fanal, by default ~/.local/state/fanal,
except for lines that start with a blank. If the input is not a terminal, its
lines run without a prompt, events are printed until the next line or the end of
the input, and the exit code is that of the last failed line.`;

const METHODS_NOTES = `
Words select the methods that contain all of them in a name, the summary or a
REST path. A method name prints the details of that method.

Examples:
  fanal methods sync committee
  fanal methods /eth/v1/beacon/pool
  fanal methods get_v1_beacon_headers

docs/methods.md lists the same methods. Programs get them from a
node by the method rpc.discover.`;

const DOCTOR_NOTES = `
A URL is the standard REST API of a beacon node of any client. Each node gets one
request at a time, and only empty lists are submitted.

Examples:
  fanal doctor http://127.0.0.1:5052 http://127.0.0.1:5051
  fanal doctor https://user:password@node.example --json

Exit codes: 0 no problems, 1 a problem with an upstream (unreachable, behind,
failing or inconsistent), 2 invalid arguments, 6 the token file cannot be read.`;

const DB_NOTES = `
The node must be stopped, and the data directory must be writable even for
commands that only read it: LevelDB rewrites its log when it opens it. check and
export change neither the format nor blocks and states.
  check        read everything and verify it
  repair       salvage the readable chain of a damaged database and list what is
               lost; the damaged database is moved aside, not deleted
  compact      free the disk space of deleted entries
  export FILE  write the chain to a new file
  import FILE  read such a file into an empty data directory; blocks are checked
               by hash, not executed, so the file must come from a trusted source

Exit codes: 0 success, 2 invalid arguments, 4 the node is running, 5 the data
directory holds another chain or a newer version, 6 the file cannot be used, 7
the data directory cannot be opened or is damaged, 9 a write failed.`;

const COMPLETION_NOTES = `
For the current shell, and permanently:
  bash  source <(fanal completion bash)
        fanal completion bash > ~/.local/share/bash-completion/completions/fanal
  zsh   source <(fanal completion zsh)
        fanal completion zsh > DIR/_fanal, with DIR in $fpath
  fish  fanal completion fish | source
        fanal completion fish > ~/.config/fish/completions/fanal.fish`;

export const COMMANDS = {
  dev: {
    description: "Run a private beacon chain with all its validators in this process",
    flags: DEV_FLAGS,
    common: ["validators", "fork", "slot-seconds", "auto", "data-dir"],
    notes: DEV_NOTES,
  },
  "dev keys": {
    description: "Export the validator keys of a dev chain for validator clients",
    flags: DEV_KEYS_FLAGS,
    operands: "export DIR",
    notes: DEV_KEYS_NOTES,
  },
  node: {
    description: "Run a beacon node on a network",
    flags: NODE_FLAGS,
    common: ["network", "checkpoint-sync-url", "el", "jwt-secret", "data-dir"],
    notes: PRECEDENCE,
  },
  gateway: {
    description: "Serve JSON-RPC, WebSocket, REST and events in front of other beacon nodes",
    flags: GATEWAY_FLAGS,
    common: ["upstream", "quorum", "cache", "rpc-token-file", "workers"],
    operands: "[check FILE | key]",
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
    description: "Examine beacon nodes: version, sync state, supported operations, latency and inconsistencies",
    flags: DOCTOR_FLAGS,
    operands: "URL...",
    notes: DOCTOR_NOTES,
  },
  db: {
    description: "Check, repair, rewind, compact, export or import the database of a node",
    flags: DB_FLAGS,
    operands: "check|repair|rewind SLOT|compact|export FILE|import FILE",
    notes: DB_NOTES,
  },
  methods: {
    description: "List methods, search them, or show the details of one",
    flags: METHODS_FLAGS,
    operands: "[WORD...]",
    notes: METHODS_NOTES,
  },
  completion: {
    description: "Print a shell completion script for commands, flags and methods",
    flags: {},
    operands: "bash|zsh|fish",
    notes: COMPLETION_NOTES,
  },
} as const satisfies Record<string, CommandDefinition>;

export type CommandName = keyof typeof COMMANDS;
/** Commands that run until stopped. */
export type NodeCommandName = "dev" | "node" | "gateway";
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];
/** Commands, excluding subcommands such as `dev keys`. */
export const FIRST_COMMAND_NAMES = COMMAND_NAMES.filter((name) => !name.includes(" "));
