import type { CommandName } from "./flags.ts";

const PRECEDENCE = `
A flag without a value is switched off again by --no-NAME. A flag beats its
environment variable, which beats the config file, which beats the default.`;

const CALL = `
A PARAM is JSON if it can be read as JSON, and otherwise a string, so that head
and 0x12 need no quotes. @FILE stands for the JSON in a file, - for the JSON on
standard input; '"@text"' is the string @text. After -- nothing is a flag.

Examples:
  fanal call getChainHead
  fanal call get_v1_beacon_states_stateId_validators head '["0","1"]'
  fanal call post_v1_beacon_pool_voluntary_exits @exit.json
  fanal call get_v1_debug_beacon_states_stateId head --json > state.json

Exit codes: 0 the call succeeded, 1 the node answered with an error, 2 the
arguments are wrong, 8 the node cannot be reached or sent no answer.`;

const METHODS = `
docs/methods.md has the same methods with examples; a node tells them to
programs by its method rpc.discover.`;

/** What the help of a command says after its flags. */
export const HELP_NOTES: Readonly<Record<CommandName, string>> = {
  dev: PRECEDENCE,
  node: PRECEDENCE,
  call: CALL,
  methods: METHODS,
};
