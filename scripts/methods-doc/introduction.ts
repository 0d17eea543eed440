/** What stands before the methods. */
export const INTRODUCTION = `# Methods

<!-- Made by "npm run docs" from the definitions of the methods and from calls to a dev chain. Changes here are lost: make them there. -->

Every method that a node serves at its JSON-RPC address, by default \`http://127.0.0.1:9190\`. \`fanal methods\` prints the
list, \`rpc.discover\` gives it to programs, and \`fanal call METHOD PARAM...\` makes a call from a shell:

    $ fanal call get_v1_beacon_states_root head
    $ fanal call get_v1_beacon_states_stateId_validators head '["0","1"]' --json

- Methods of the standard beacon API are named after their REST paths, and \`result\` is what REST has in \`data\`. What
  REST has beside it comes in the response headers that REST uses, and as \`meta\` when the request says \`"meta": true\`.
- Parameters go by position (\`"params": ["head"]\`) or by name (\`"params": { "state_id": "head" }\`). An optional one that is
  \`null\` counts as left out; more than a method takes are an error.
- Integers are accepted as decimal strings or as JSON integers, and answered as decimal strings. Bytes are \`0x\` and hex.
- A \`state_id\` is \`head\`, \`genesis\`, \`finalized\`, \`justified\`, a slot or a state root. A \`block_id\` is \`head\`, \`genesis\`,
  \`finalized\`, a slot or a block root.
- A method is of an access class: it reads, unless it is said to be of another. \`submit\` brings something to the chain or
  tells of duties, \`debug\` shows the inside of the node, \`admin\` changes how it runs. A server on an address of this machine
  answers all of them, one that other machines can reach only the first two, unless \`--rpc-api\` says otherwise; what it does
  not answer fails with -32004 and the status 403 in \`data\`.
- The same address takes WebSocket connections: every method can be called there too, and \`subscribe\` has what happens
  sent as notifications, \`{"method": "subscription", "params": {"subscription", "topic", "data"}}\`.

The examples are real calls, made one after the other to a dev chain of 16 validators in phase0; where a … stands, something
long was cut.`;
