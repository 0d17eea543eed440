// Made by "npm run docs" from the flags of `fanal dev`. Changes here are lost: make them there.

/** The flags of `fanal dev` that are options of a chain, too. */
export interface FlagOptions {
  /** Validators of the chain. */
  readonly validators?: number;
  /** Fork the chain starts in: phase0, altair, bellatrix, capella, deneb, electra, fulu. */
  readonly fork?: string;
  /** Fork to upgrade to in an epoch; repeatable, or several separated by commas. */
  readonly forkAt?: string | readonly string[];
  /** Preset of the chain, minimal or mainnet. */
  readonly preset?: string;
  /** Length of a slot in whole seconds of chain time. */
  readonly slotSeconds?: number;
  /** Epochs a new chain is built ahead before it starts to run live. */
  readonly warmupEpochs?: number;
  /** Unix time at which a new chain begins; at --speed 1 the slots since then are built ahead, too. */
  readonly genesisTime?: number;
  /** Withdrawal credentials of a new chain's validators: 0x00, or 0x01 or 0x02 with an address, such as 0-15=0x01:0x…; repeatable. Without an address each has one that is derived from its public key. */
  readonly withdrawalCredentials?: string | readonly string[];
  /** Balances of a new chain's validators, such as 0-7=2048,8-15=16; repeatable. Who has less than 32 is not active. */
  readonly balances?: string | readonly string[];
  /** Constant of a new chain's configuration, such as CHURN_LIMIT_QUOTIENT=16; repeatable. */
  readonly config?: string | readonly string[];
  /** Which of the well-known test keys the validators of a dev chain have, in their order, such as 100-163. */
  readonly interopKeys?: string;
  /** File with a BIP-39 mnemonic that the keys of a dev chain's validators are derived from, at m/12381/3600/i/0/0. */
  readonly mnemonicFile?: string;
  /** The mnemonic itself, which others on the machine can then see. */
  readonly mnemonic?: string;
  /** Deposit contract that makes further validators of a new chain, on the chain that --eth1 follows. */
  readonly depositContract?: string;
  /** Chain id of the deposit contract's chain. */
  readonly depositChainId?: number;
  /** How many blocks, each as long as a slot, votes keep behind the head of the deposit contract's chain. */
  readonly eth1FollowDistance?: number;
  /** Validators run in this process; LIST is indices and ranges such as 0-15,20. */
  readonly devValidators?: string;
  /** Blobs that each block carries from deneb on, such as 0-6, as far as its fork allows; the built-in execution engine makes them. */
  readonly devBlobs?: string;
  /** How many times faster than the wall clock chain time passes; fractions slow it down, and at 0 it stands still until it is told to go on. */
  readonly speed?: number;
  /** Leave the slots empty that passed while the chain was stopped, and keep the time of day; needs --speed 1. */
  readonly catchUp?: boolean;
  /** Delete the chain in the data directory and start a new one. */
  readonly reset?: boolean;
  /** Directory that keeps the chain. */
  readonly dataDir?: string;
  /** Engine API of an execution client, such as http://127.0.0.1:8551; repeatable, the next one is used while those before it are away. */
  readonly el?: string | readonly string[];
  /** File with the secret that the execution client shares: 64 hex digits; it is made when there is none. */
  readonly jwtSecret?: string;
  /** Connect to other nodes. */
  readonly p2p?: boolean;
  /** Port for other nodes, of TCP and, for discovery, of UDP; 0 takes any free one. */
  readonly p2pPort?: number;
  /** Address the node listens on for other nodes. */
  readonly p2pAddress?: string;
  /** How many peers the node wants to be connected to. */
  readonly targetPeers?: number;
  /** Look for other nodes by discovery (discv5) instead of connecting to the given peers alone. */
  readonly discovery?: boolean;
  /** Node that discovery starts from, or a file with one a line or a YAML list of them; repeatable. */
  readonly bootnodes?: string | readonly string[];
  /** Node to stay connected to, such as /ip4/192.0.2.1/tcp/9000/p2p/16Uiu2H…; repeatable. */
  readonly peer?: string | readonly string[];
  /** Keep and serve all columns of blobs from fulu on, not only the share that the balance of the node's validators asks for; a node that once did goes on with it. */
  readonly supernode?: boolean;
  /** Serve the JSON-RPC interface. */
  readonly rpc?: boolean;
  /** Address the JSON-RPC interface listens on. */
  readonly rpcAddress?: string;
  /** Show the chain to browsers, at the address of the JSON-RPC interface. */
  readonly web?: boolean;
  /** Host name that the JSON-RPC interface may be called by, beside localhost, the name it listens on and any IP address; * for all; repeatable. */
  readonly rpcVhosts?: string | readonly string[];
  /** Origin whose web pages may use the JSON-RPC interface, such as http://localhost:3000, or * for all; repeatable. */
  readonly rpcAllowOrigin?: string | readonly string[];
  /** Class of methods that the JSON-RPC interface serves: read, submit, debug, admin, dev; repeatable, or several separated by commas. */
  readonly rpcApi?: string | readonly string[];
  /** File with the token that callers of the JSON-RPC interface have to send; it is made when there is none. */
  readonly rpcTokenFile?: string;
  /** Let the JSON-RPC interface be called without a token from other machines, too. */
  readonly rpcAllowAnyone?: boolean;
  /** Serve the standard REST API. */
  readonly rest?: boolean;
  /** Address the REST API listens on. */
  readonly restAddress?: string;
  /** Host name that the REST API may be called by, beside localhost, the name it listens on and any IP address; * for all; repeatable. */
  readonly restVhosts?: string | readonly string[];
  /** Origin whose web pages may use the REST API, such as http://localhost:3000, or * for all; repeatable. */
  readonly restAllowOrigin?: string | readonly string[];
  /** Class of methods that the REST API serves: read, submit, debug, admin, dev; repeatable, or several separated by commas. */
  readonly restApi?: string | readonly string[];
  /** File with the token that callers of the REST API have to send; it is made when there is none. */
  readonly restTokenFile?: string;
  /** Let the REST API be called without a token from other machines, too. */
  readonly restAllowAnyone?: boolean;
  /** Serve metrics for Prometheus, at /metrics. */
  readonly metrics?: boolean;
  /** Port of the metrics; 0 takes any free one. */
  readonly metricsPort?: number;
  /** Address the metrics are served on; whoever can reach it can read them. */
  readonly metricsAddress?: string;
  /** What is logged: a level, or a specification such as "INFO; TRACE:chain; DISABLED:rpc". */
  readonly logLevel?: string;
  /** Format of the log, text or json. */
  readonly logFormat?: string;
  /** File that gets a line of JSON for every request, set aside as the log file is; - stands for standard output. */
  readonly accessLog?: string;
  /** KZG backend that computes and verifies commitments of blobs: auto, node-eth-kzg, c-kzg, portable. auto takes the first one that loads. */
  readonly kzg?: string;
  /** Graffiti of proposed blocks: text of at most 32 bytes, or 0x and at most 64 hex digits. */
  readonly graffiti?: string;
  /** Name the execution client and Fanal in the graffiti of proposed blocks, as in GE168dFA0001, where there is room. */
  readonly graffitiCodes?: boolean;
  /** Fee recipient of blocks whose proposer was not prepared with one by its validator client; without it their fees go to the zero address. */
  readonly suggestedFeeRecipient?: string;
  /** Build on the parent of a head that arrived after the attestation deadline and has hardly any votes, so that it is orphaned. */
  readonly proposerReorgs?: boolean;
  /** Validators to log and measure the duties of, by index, range or public key, such as 0-63,100,0xa1b2…; repeatable. */
  readonly monitorValidators?: string | readonly string[];
  /** Node of the chain that deposits are made on, by its JSON-RPC; repeatable, the next is asked when one fails. */
  readonly eth1?: string | readonly string[];
  /** Keep track of pending promises for debug_getChronosFutures, which slows the node down. */
  readonly trackFutures?: boolean;
  /** Builder to ask for payloads, such as MEV-Boost or a relay. */
  readonly builder?: string;
  /** How many milliseconds the builder's bid for a block is waited for. */
  readonly builderTimeout?: number;
  /** By how much a bid is weighed against the node's own payload, where the validator client does not say it: 0 prefers the own payload, 2^64-1 the builder's. */
  readonly builderBoostFactor?: number;
  /** Slots without a block in a row at which the builder is not asked any more. */
  readonly builderFallbackSkips?: number;
  /** Slots without a block among the last, as many as an epoch has, at which the builder is not asked any more. */
  readonly builderFallbackSkipsPerEpoch?: number;
  /** Connections that each server takes at once, and subscriptions over WebSocket. */
  readonly maxConnections?: number;
  /** Largest request that brings a list or an object, such as a block, and over JSON-RPC names such a method in its first MiB; others may have a MiB. */
  readonly maxBodyBytes?: number;
  /** What each server holds of requests that are not answered yet, of all clients together. */
  readonly maxHeldBytes?: number;
  /** What each server holds of answers that are not read yet, of all clients together. */
  readonly maxUnreadBytes?: number;
  /** Calls that a batch may hold. */
  readonly maxBatchCalls?: number;
  /** Size of a batch's answers from which on the rest of its calls is refused. */
  readonly maxBatchBytes?: number;
  /** How long a call may take before it is given up. */
  readonly callTimeout?: number;
  /** How long a client may neither send the rest of its request nor read the rest of its answer. */
  readonly stallTimeout?: number;
  /** Requests a second that one address may make to each server. */
  readonly rateLimit?: number;
  /** Calls that may replay blocks or go over all validators that are worked on at once. */
  readonly maxHeavyCalls?: number;
  /** Such calls that may wait for their turn; more are refused at once. */
  readonly maxWaitingCalls?: number;
  /** Large answers that may be on their way to their readers at once. */
  readonly maxStreams?: number;
  /** YAML (.yaml, .yml) or TOML (.toml) file with settings; its keys are the names of these flags. */
  readonly configFile?: string;
}
