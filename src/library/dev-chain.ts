/// <reference lib="esnext.disposable" preserve="true" />
import type { ForkName } from "../client/chain-types.ts";
import type { Client } from "../client/index.ts";
import type { ChainActions } from "./chain-actions.ts";
import type { ConfigName } from "./config-names.ts";
import type { EthProvider } from "./eth-provider.ts";
import type { FlagOptions } from "./flag-options.ts";

export type Epoch = number | bigint;

/** Options that have no flag, or whose type differs from that of the flag. */
interface OwnOptions<
  Genesis extends ForkName,
  Later extends ForkName,
  Directory extends string,
  GloasAt extends Epoch,
> {
  /** 64 by default. */
  readonly validators?: number | bigint;
  /** Fork at genesis. By default "fulu", or the fork before the first fork in `forkAt`. */
  readonly fork?: Genesis;
  /** Later forks with their epochs: `{ altair: 2 }`. */
  readonly forkAt?: { readonly [Fork in Later]?: number | bigint };
  /** Epoch to upgrade to gloas in: the same as `forkAt: { gloas: … }`. */
  readonly gloasAt?: GloasAt;
  /** "minimal" by default. All chains in a process share one preset. */
  readonly preset?: "minimal" | "mainnet";
  readonly slotSeconds?: number | bigint;
  /** Speed of chain time relative to real time. By default time is paused: `chain.advance` moves it. */
  readonly speed?: number;
  /** Number of past epochs that the chain starts with; 0 by default. */
  readonly warmupEpochs?: number | bigint;
  /** Unix seconds. */
  readonly genesisTime?: number | bigint;
  /** "0x00", or "0x01" or "0x02" with an address; with indices for some validators: "0-15=0x01:0x…". */
  readonly withdrawalCredentials?: string | readonly string[];
  /** In ether, for all validators or for some: "0-7=2048". */
  readonly balances?: number | bigint | string | readonly string[];
  /** Overridden constants of the configuration: `{ MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 }`. */
  readonly config?: { readonly [Name in ConfigName]?: number | bigint | string };
  /** Range of interop keys, such as "100-163"; from 0 on by default. */
  readonly interopKeys?: string;
  /** Mnemonic to derive the validator keys from, instead of interop keys. */
  readonly mnemonic?: string;
  /** Validators that run in-process: "all", "none", or indices and ranges such as "0-15,20". */
  readonly devValidators?: string;
  /** Blobs per block from deneb on, up to the fork's limit: a number, or a range such as "0-6". None by default. */
  readonly devBlobs?: number | bigint | string;
  /** Data directory. By default the chain is kept in memory. */
  readonly dataDir?: Directory;
  /** JSON-RPC port on 127.0.0.1, 0 for any free port. Not served by default. */
  readonly rpc?: number;
  /** REST API port on 127.0.0.1, 0 for any free port. Not served by default. */
  readonly rest?: number;
  /** Port for Ethereum's JSON-RPC on 127.0.0.1, 0 for any free port. Not served by default. */
  readonly ethRpc?: number;
  /** Log level, such as "INFO"; "WARN" by default. */
  readonly logLevel?: string;
  /** Receives log lines. If omitted, nothing is logged. */
  readonly log?: (line: string) => void;
}

/** Options of a dev chain, named after the flags of `fanal dev` (docs/flags.md). */
export interface DevChainOptions<
  Genesis extends ForkName = ForkName,
  Later extends ForkName = ForkName,
  Directory extends string = string,
  GloasAt extends Epoch = Epoch,
> extends OwnOptions<Genesis, Later, Directory, GloasAt>,
    Omit<FlagOptions, keyof OwnOptions<ForkName, ForkName, string, Epoch>> {}

interface PreviousFork {
  phase0: never;
  altair: "phase0";
  bellatrix: "altair";
  capella: "bellatrix";
  deneb: "capella";
  electra: "deneb";
  fulu: "electra";
  gloas: "fulu";
}

/** Forks of a chain, derived from its options. A stored chain may be at any fork. */
export type ForksOf<
  Genesis extends ForkName,
  Later extends ForkName,
  Directory extends string,
  GloasAt extends Epoch = never,
> = [GloasAt] extends [never]
  ? ScheduledForks<Genesis, Later, Directory>
  : ScheduledForks<Genesis, Later | "gloas", Directory>;

type ScheduledForks<Genesis extends ForkName, Later extends ForkName, Directory extends string> = [Genesis] extends [
  never,
]
  ? [Later] extends [never]
    ? [Directory] extends [never]
      ? "fulu"
      : ForkName
    : Later | PreviousFork[Later]
  : Genesis | Later;

/** A funded account on a chain with an EVM. */
export interface Account {
  /** Checksummed (EIP-55). */
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

/** In-process or remote dev chain. `F` is its fork, or a union of its forks. */
export interface DevChain<F extends ForkName = ForkName> extends ChainActions<F>, AsyncDisposable {
  /** Client with all methods of the chain. */
  readonly client: Client<F>;
  /** EIP-1193 provider for a chain with an EVM, for use with viem, ethers and others. */
  readonly eth: EthProvider;
  /** Funded accounts on a chain with an EVM. */
  readonly accounts: readonly Account[];
  /** JSON-RPC URL, if served. */
  readonly url: string | undefined;
  readonly restUrl: string | undefined;
  /** URL of Ethereum's JSON-RPC, if served. */
  readonly ethRpcUrl: string | undefined;
  /** URL of the Web3Signer API, if served (`signerPort`). */
  readonly signerUrl: string | undefined;
  /** Stops an in-process chain, or closes the connection to a remote one. */
  stop(): Promise<void>;
}
