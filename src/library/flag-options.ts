// Made by "npm run docs" from the flags of `fanal dev`. Changes here are lost: make them there.

/** The flags of `fanal dev` that are options of a chain, too. */
export interface FlagOptions {
  /** Number of validators. */
  readonly validators?: number;
  /** Fork the chain starts in: phase0, altair, bellatrix, capella, deneb, electra, fulu. */
  readonly fork?: string;
  /** Fork to upgrade to in an epoch; repeatable, or several separated by commas. */
  readonly forkAt?: string | readonly string[];
  /** Preset of the chain, minimal or mainnet. */
  readonly preset?: string;
  /** Length of a slot in whole seconds of chain time. */
  readonly slotSeconds?: number;
  /** Epochs of history that a new chain produces before it runs live. */
  readonly warmupEpochs?: number;
  /** Genesis time of a new chain, in Unix seconds; at --speed 1 the slots since then are produced too. */
  readonly genesisTime?: number;
  /** Withdrawal credentials of a new chain's validators: 0x00, or 0x01 or 0x02 with an address, such as 0-15=0x01:0x…; repeatable. Without an address, one is derived from the public key. */
  readonly withdrawalCredentials?: string | readonly string[];
  /** Balances of a new chain's validators, such as 0-7=2048,8-15=16; repeatable. Validators below 32 are not active. */
  readonly balances?: string | readonly string[];
  /** Constant of a new chain's configuration, such as CHURN_LIMIT_QUOTIENT=16; repeatable. */
  readonly config?: string | readonly string[];
  /** Execute every payload of a new chain with an EVM, whose ten test accounts have 10,000 ETH each. */
  readonly evm?: boolean;
  /** Chain id of a new chain with --evm. */
  readonly chainId?: number;
  /** Interop keys of the dev chain's validators, such as 100-163. */
  readonly interopKeys?: string;
  /** File with a BIP-39 mnemonic from which the dev chain's validator keys are derived, at m/12381/3600/i/0/0. */
  readonly mnemonicFile?: string;
  /** The mnemonic itself; visible to other users of the machine. */
  readonly mnemonic?: string;
  /** Deposit contract of a new chain, on the chain that --eth1 follows. */
  readonly depositContract?: string;
  /** Chain id of the deposit contract's chain. */
  readonly depositChainId?: number;
  /** Follow distance of eth1 votes in blocks of the deposit chain; a block is taken to last one slot. */
  readonly eth1FollowDistance?: number;
  /** Validators run in this process; LIST is indices and ranges such as 0-15,20. */
  readonly devValidators?: string;
  /** Blobs per block from deneb on, such as 0-6, up to the limit of the fork; created by the built-in execution engine. */
  readonly devBlobs?: string;
  /** Speed of chain time relative to the wall clock; fractions slow it down, 0 pauses it until a call resumes it. */
  readonly speed?: number;
  /** Leave slots empty that passed while the chain was stopped, and follow the time of day; requires --speed 1. */
  readonly catchUp?: boolean;
  /** Delete the chain in the data directory and start a new one. */
  readonly reset?: boolean;
  /** Data directory of the chain. */
  readonly dataDir?: string;
  /** Engine API of an execution client, such as http://127.0.0.1:8551; repeatable, later ones are failovers. */
  readonly el?: string | readonly string[];
  /** File with the JWT secret shared with the execution client, 64 hex digits; created if missing. */
  readonly jwtSecret?: string;
  /** Connect to other nodes. */
  readonly p2p?: boolean;
  /** Peer-to-peer port, TCP and, for discovery, UDP; 0 for any free port. */
  readonly p2pPort?: number;
  /** Peer-to-peer listen address. */
  readonly p2pAddress?: string;
  /** Target number of connected peers. */
  readonly targetPeers?: number;
  /** Discover peers (discv5); otherwise connect to the given peers only. */
  readonly discovery?: boolean;
  /** Bootnode, or a file with one per line or a YAML list; repeatable. */
  readonly bootnodes?: string | readonly string[];
  /** Peer to stay connected to, such as /ip4/192.0.2.1/tcp/9000/p2p/16Uiu2H…; repeatable. */
  readonly peer?: string | readonly string[];
  /** Custody and serve all data columns from fulu on, not only those required by the validators' balance; once on, it stays on for the data directory. */
  readonly supernode?: boolean;
  /** Serve eth_* and other methods of execution clients, for a chain with the EVM. */
  readonly ethRpc?: boolean;
  /** Address Ethereum's JSON-RPC listens on; access is limited by the flags of --rpc, such as --rpc-token-file. */
  readonly ethRpcAddress?: string;
  /** Serve the JSON-RPC interface. */
  readonly rpc?: boolean;
  /** Address the JSON-RPC interface listens on. */
  readonly rpcAddress?: string;
  /** Serve the web interface at the address of the JSON-RPC interface. */
  readonly web?: boolean;
  /** Host name accepted by the JSON-RPC interface, besides localhost, the name it listens on and IP addresses; * for all; repeatable. */
  readonly rpcVhosts?: string | readonly string[];
  /** Origin whose web pages may use the JSON-RPC interface, such as http://localhost:3000, or * for all; repeatable. */
  readonly rpcAllowOrigin?: string | readonly string[];
  /** Class of methods that the JSON-RPC interface serves: read, submit, debug, admin, dev; repeatable, or several separated by commas. */
  readonly rpcApi?: string | readonly string[];
  /** File with the token that clients of the JSON-RPC interface must send; created if missing. */
  readonly rpcTokenFile?: string;
  /** Allow other machines to use the JSON-RPC interface without a token. */
  readonly rpcAllowAnyone?: boolean;
  /** Serve the standard REST API. */
  readonly rest?: boolean;
  /** Address the REST API listens on. */
  readonly restAddress?: string;
  /** Host name accepted by the REST API, besides localhost, the name it listens on and IP addresses; * for all; repeatable. */
  readonly restVhosts?: string | readonly string[];
  /** Origin whose web pages may use the REST API, such as http://localhost:3000, or * for all; repeatable. */
  readonly restAllowOrigin?: string | readonly string[];
  /** Class of methods that the REST API serves: read, submit, debug, admin, dev; repeatable, or several separated by commas. */
  readonly restApi?: string | readonly string[];
  /** File with the token that clients of the REST API must send; created if missing. */
  readonly restTokenFile?: string;
  /** Allow other machines to use the REST API without a token. */
  readonly restAllowAnyone?: boolean;
  /** Serve Prometheus metrics at /metrics. */
  readonly metrics?: boolean;
  /** Port of the metrics; 0 for any free port. */
  readonly metricsPort?: number;
  /** Address the metrics server listens on; it has no access control. */
  readonly metricsAddress?: string;
  /** Log level, or a specification such as "INFO; TRACE:chain; DISABLED:rpc". */
  readonly logLevel?: string;
  /** Format of the log, text or json. */
  readonly logFormat?: string;
  /** Access log with one line of JSON per request, rotated like the log file; - is standard output. */
  readonly accessLog?: string;
  /** KZG backend for blobs: auto, node-eth-kzg, c-kzg, portable. auto uses the first that loads. */
  readonly kzg?: string;
  /** Graffiti of proposed blocks: text of at most 32 bytes, or 0x and at most 64 hex digits. */
  readonly graffiti?: string;
  /** Append the client versions to the graffiti of proposed blocks, as in GE168dFA0001, if they fit. */
  readonly graffitiCodes?: boolean;
  /** Fee recipient for proposers that the validator client has not prepared; the zero address by default. */
  readonly suggestedFeeRecipient?: string;
  /** Reorg late heads with few votes: build on their parent (proposer boost reorg). */
  readonly proposerReorgs?: boolean;
  /** Validators to monitor, by index, range or public key, such as 0-63,100,0xa1b2…; repeatable. */
  readonly monitorValidators?: string | readonly string[];
  /** JSON-RPC of a node of the deposit chain; repeatable, later ones are failovers. */
  readonly eth1?: string | readonly string[];
  /** Track pending promises for debug_getChronosFutures; slows the node down. */
  readonly trackFutures?: boolean;
  /** Builder API for payloads, such as MEV-Boost or a relay. */
  readonly builder?: string;
  /** Timeout for the builder's bid, in milliseconds. */
  readonly builderTimeout?: number;
  /** Weight of a bid against the local payload, unless the validator client sets it: 0 prefers the local payload, 2^64-1 the builder's. */
  readonly builderBoostFactor?: number;
  /** Consecutive missed slots after which the builder is not used. */
  readonly builderFallbackSkips?: number;
  /** Missed slots within the last epoch's worth of slots after which the builder is not used. */
  readonly builderFallbackSkipsPerEpoch?: number;
  /** Concurrent connections of each server, and WebSocket subscriptions. */
  readonly maxConnections?: number;
  /** Size limit of requests with a list or an object parameter, such as a block; over JSON-RPC the method must be in the first MiB. Other requests are limited to 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Memory of each server for pending requests, of all clients. */
  readonly maxHeldBytes?: number;
  /** Memory of each server for unread responses, of all clients. */
  readonly maxUnreadBytes?: number;
  /** Calls per batch. */
  readonly maxBatchCalls?: number;
  /** Size of a batch's responses after which its remaining calls are rejected. */
  readonly maxBatchBytes?: number;
  /** Timeout of a call. */
  readonly callTimeout?: number;
  /** Timeout for a client that stops sending its request or reading its response. */
  readonly stallTimeout?: number;
  /** Requests per second of one address to each server. */
  readonly rateLimit?: number;
  /** Concurrent heavy calls, which may replay blocks or iterate over all validators. */
  readonly maxHeavyCalls?: number;
  /** Queued heavy calls; more are rejected at once. */
  readonly maxWaitingCalls?: number;
  /** Concurrent large responses being sent. */
  readonly maxStreams?: number;
  /** YAML (.yaml, .yml) or TOML (.toml) file with settings; its keys are the names of these flags. */
  readonly configFile?: string;
}
