/**
 * Allowed imports between the parts of src/. docs/source-map.md has the same table. A part is a folder, or a path
 * inside one with its own row. A row lists only parts below it. "(types)" allows only `import type`. Besides what is
 * listed, a part may import its own folder and the `COMMON` folders.
 *
 * Tests (`*.test.ts`) may import everything. Only tests may import what they share, in `test/support/`.
 */
export const BOUNDARIES: Readonly<Record<string, readonly string[]>> = {
  // Offers dev chains with the options of the command line, and an in-process client.
  library: ["cli", "client", "node", "dev (types)", "evm/accounts.ts", "server", "api", "chain", "log", "debug"],
  // Runs in browsers.
  web: ["client"],
  cli: [
    "node",
    "gateway",
    "dev",
    "evm/accounts.ts",
    "server/access-class.ts",
    "server/http/access/loopback.ts",
    "api",
    "sync/settings.ts",
    "network (types)",
    "chain",
    "data/kzg/backend.ts",
    "json",
    "log",
    "debug",
  ],
  node: [
    "signer",
    "dev",
    "evm",
    "metrics",
    "server",
    "api",
    "sync",
    "network",
    "chain",
    "execution",
    "http-client",
    "data",
    "db",
    "threads",
    "log",
  ],
  // Has no chain. Of api it uses the method definitions.
  gateway: ["metrics", "server", "api", "threads", "http-client", "json", "log"],
  // Serves the Web3Signer API over keys of a dev chain.
  signer: ["dev (types)", "server", "api/params/scalars.ts", "api/params/ssz-payload.ts", "json", "log (types)"],
  dev: ["api", "chain", "evm", "execution", "bls", "db", "threads", "log"],
  // Observes all parts of a node. None of them imports it.
  metrics: [
    "server",
    "api (types)",
    "sync (types)",
    "network (types)",
    "chain (types)",
    "execution (types)",
    "db (types)",
    "ssz",
    "log (types)",
  ],
  // Sees the servers and the network only through their interfaces.
  api: [
    "server/access-class.ts",
    "server/lane.ts",
    "server/method-table.ts (types)",
    "server/rest/route-table.ts (types)",
    "server/rest/request.ts",
    "server/http/response/entity-tag.ts",
    "server/events/feed.ts",
    "network/network-view.ts (types)",
    "network/broadcast.ts",
    "network/peer-id.ts",
    "chain",
    // The arguments and errors of calls. What answers them may run in another thread.
    "evm/eth (types)",
    "evm/eth/block-id.ts",
    "evm/eth/eth-error.ts",
    "evm/overrides/override.ts (types)",
    "execution",
    "data",
    "db",
    "json",
    "ssz",
    "log",
    "debug (types)",
  ],
  server: ["threads", "json", "log"],
  sync: ["network", "chain", "data", "log"],
  network: ["chain", "data", "db (types)", "log (types)"],
  chain: ["execution", "data", "bls", "db", "ssz", "log"],
  // Plain computation: no chain, no I/O.
  evm: [],
  // Puts the EVM behind the interface of execution engines.
  "evm/engine": ["execution", "data (types)", "log"],
  // Runs the engine in a worker thread.
  "evm/thread": ["execution", "threads", "json", "log"],
  // Runs reads in another one.
  "evm/reads": ["execution", "threads", "json", "log"],
  execution: ["http-client", "db (types)", "log (types)"],
  data: ["threads", "log (types)"],
  // Logs failures of worker threads.
  bls: ["threads", "log (types)"],
  // Channels between threads. Users define the calls and the errors.
  threads: [],
  "http-client": [],
  client: [],
  db: [],
  json: ["ssz"],
  ssz: [],
  log: [],
  debug: [],
  async: [],
  collections: [],
  errors: [],
  runtime: [],
};

/** Folders that every part may import, except for the standalone ones. */
export const COMMON: readonly string[] = ["async", "collections", "errors", "runtime"];

/** Files in common folders that only some folders may import. A `Failure` is the error of a call. */
export const RESERVED: Readonly<Record<string, readonly string[]>> = {
  "errors/failure.ts": ["server", "api", "gateway", "cli"],
};

/** Folders that import only themselves: neither packages nor common folders. */
export const STANDALONE: readonly string[] = ["client"];
