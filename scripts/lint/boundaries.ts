/**
 * Which part of src/ may import which; docs/architecture.md has the same table. A part is a folder, or a place within one
 * that has a line of its own instead. "(types)" allows `import type` alone. What is not listed is not allowed, but for two
 * things that go without saying: the files directly in src/, and the rest of the same folder.
 *
 * Tests and their helpers (`*.test.ts`, `*.test-support.ts`) may import everything, and nothing but tests may import them.
 */
export const BOUNDARIES: Readonly<Record<string, readonly string[]>> = {
  // It offers chains with the options of the command line, and with a client that needs no server.
  library: ["cli", "client", "node", "dev (types)", "server", "api", "chain", "log", "debug"],
  cli: ["node", "gateway", "dev", "api", "network", "chain", "data/kzg/backend.ts", "json", "log", "debug"],
  node: [
    "dev",
    "metrics",
    "server",
    "api",
    "sync",
    "network",
    "chain",
    "execution",
    "http-client",
    "data",
    "bls",
    "db",
    "json",
    "log",
    "debug",
  ],
  // It has no chain: of api it takes what the definitions say of methods.
  gateway: ["metrics", "server", "api", "http-client", "json", "log"],
  dev: ["api", "chain", "execution", "data", "bls", "db", "log"],
  // It looks at all parts of a node; none of them looks at it.
  metrics: [
    "server",
    "api",
    "sync (types)",
    "network (types)",
    "chain (types)",
    "execution (types)",
    "db (types)",
    "log (types)",
  ],
  server: ["json", "log"],
  // Of the servers and of the network, an answer sees only what the seams to them describe.
  api: [
    "server/method-table.ts (types)",
    "server/rest/route-table.ts (types)",
    "server/events/feed.ts (types)",
    "network/network-view.ts (types)",
    "network/broadcast.ts",
    "network/peer-id.ts",
    "chain",
    "execution",
    "data",
    "db",
    "json",
    "ssz",
    "log",
    "debug (types)",
  ],
  sync: ["network", "chain", "data", "db", "log"],
  network: ["chain", "data", "db", "log"],
  chain: ["execution", "data", "bls", "db", "ssz", "log"],
  execution: ["http-client", "data", "db", "log (types)"],
  data: ["log (types)"],
  // Worker threads that fail are told to the log.
  bls: ["log (types)"],
  "http-client": [],
  client: [],
  // It runs in browsers.
  web: ["client"],
  db: [],
  json: ["ssz"],
  ssz: [],
  log: [],
  debug: [],
};

/** Files directly in src/ that only some folders may import: a failure is a matter of calls. */
export const RESERVED: Readonly<Record<string, readonly string[]>> = { "failure.ts": ["server", "api", "gateway"] };

/** Folders that import nothing at all but themselves, neither packages nor files directly in src/. */
export const STANDALONE: readonly string[] = ["client"];
