/// <reference lib="esnext.disposable" preserve="true" />
import type { Client } from "../client/index.ts";
import type { FlagOptions } from "./flag-options.ts";

/** The options that no flag has, that are otherwise here, or of which more can be said than a flag does. */
interface OwnOptions {
  /** By default 64. */
  readonly validators?: number;
  /** The fork that the chain starts in. */
  readonly fork?: string;
  /** Forks to come, with their epochs: `{ altair: 2 }`. */
  readonly forkAt?: Readonly<Record<string, number>>;
  /** All chains of a process have the same; by default minimal. */
  readonly preset?: "minimal" | "mainnet";
  readonly slotSeconds?: number;
  /**
   * How many times faster than the time of day chain time flows. By default it does not flow at all: the chain goes on when
   * `client.dev_advance` or another of the control methods says so.
   */
  readonly speed?: number;
  /** Epochs of history that are there at the start. By default none: the chain starts at its genesis. */
  readonly warmupEpochs?: number;
  /** Unix seconds. */
  readonly genesisTime?: number;
  /** "0x00", or "0x01" or "0x02" with an address after a colon; for some validators with their indices before it: "0-15=0x01:0x…". */
  readonly withdrawalCredentials?: string | readonly string[];
  /** In ether, for all validators or for some: "0-7=2048". */
  readonly balances?: number | string | readonly string[];
  /** Constants of the configuration: `{ MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 }`. */
  readonly config?: Readonly<Record<string, number | string>>;
  /** Which of the well-known test keys the validators have, such as "100-163"; by default those from 0 on. */
  readonly interopKeys?: string;
  /** What the keys of the validators are derived from instead. */
  readonly mnemonic?: string;
  /** The validators that act by themselves: "all", "none", or indices and ranges such as "0-15,20". */
  readonly devValidators?: string;
  /** How many blobs each block carries from deneb on, as far as its fork allows: a number, or "0-6". By default none. */
  readonly devBlobs?: number | string;
  /** Where the chain is kept, and found again by the next start. By default it is gone when it is stopped. */
  readonly dataDir?: string;
  /** The port on 127.0.0.1 where JSON-RPC is served, 0 for any; by default it is not. */
  readonly rpc?: number;
  /** The same for the REST API. */
  readonly rest?: number;
  /** What is logged, such as "INFO"; by default everything from warnings on. */
  readonly logLevel?: string;
  /** Gets each line of the log; by default nobody does. */
  readonly log?: (line: string) => void;
}

/** The options of a chain, in the words of the flags of `fanal dev`, which docs/flags.md describes. */
export interface DevChainOptions extends OwnOptions, Omit<FlagOptions, keyof OwnOptions> {}

/** A chain, started here or elsewhere. */
export interface DevChain extends AsyncDisposable {
  /** Calls every method of the chain. */
  readonly client: Client;
  /** Where JSON-RPC is served, if it is. */
  readonly url: string | undefined;
  readonly restUrl: string | undefined;
  /** Ends the chain that was started here, or the connection to the one that runs elsewhere. */
  stop(): Promise<void>;
}
