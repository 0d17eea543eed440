import { DEFAULT_CHAIN_ID, devAccounts } from "../../src/evm/genesis.ts";

type Edr = typeof import("@nomicfoundation/edr");

const DEPOSIT_CONTRACT = new Uint8Array(20).fill(0x42);
const GAS_LIMIT = 30_000_000n;

interface EdrChainOptions {
  coinbase?: Uint8Array;
  /** Private keys of accounts that the chain signs for. */
  ownedAccounts?: readonly string[];
  /** True if every transaction makes a block. */
  autoMine?: boolean;
}

/** Returns EDR; undefined if it has no binary for this platform. */
export function loadEdr(): Promise<Edr | undefined> {
  return import("@nomicfoundation/edr").catch(() => undefined);
}

/** An Osaka chain by EDR, the Rust EVM of Hardhat, with the accounts of a dev chain. */
export class EdrChain {
  /** Answers a JSON-RPC request. */
  readonly respond: (request: string) => Promise<string>;

  static async open(
    library: Edr,
    { coinbase = new Uint8Array(20), ownedAccounts = [], autoMine = false }: EdrChainOptions,
  ): Promise<EdrChain> {
    const context = new library.EdrContext();
    await context.registerProviderFactory(library.L1_CHAIN_TYPE, library.l1ProviderFactory());
    // The storage of the request contracts cannot be set, so they are left out.
    const accounts = devAccounts(DEPOSIT_CONTRACT, true).filter(({ storage }) => storage === undefined);
    const provider = await context.createProvider(
      library.L1_CHAIN_TYPE,
      {
        allowBlocksWithSameTimestamp: false,
        allowUnlimitedContractSize: false,
        bailOnCallFailure: false,
        bailOnTransactionFailure: false,
        chainId: BigInt(DEFAULT_CHAIN_ID),
        coinbase,
        defaultTransactionGasLimit: 1_000_000n,
        genesisState: accounts.map(({ address, balance, nonce, code }) => ({
          address,
          balance: balance ?? 0n,
          nonce: nonce ?? 0n,
          ...(code && { code }),
        })),
        hardfork: library.OSAKA,
        initialBaseFeePerGas: 10n ** 9n,
        initialParentBeaconBlockRoot: new Uint8Array(32),
        minGasPrice: 0n,
        mining: { autoMine, blockGasLimit: GAS_LIMIT, memPool: { order: library.MineOrdering.Fifo } },
        network: { genesisBlockGasLimit: GAS_LIMIT },
        networkId: BigInt(DEFAULT_CHAIN_ID),
        observability: {},
        ownedAccounts,
        precompileOverrides: [],
      } as never,
      { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
      { subscriptionCallback: () => {} },
      new library.ContractDecoder(),
    );
    return new EdrChain(async (request) => {
      const { data } = await provider.handleRequest(request);
      return typeof data === "string" ? data : JSON.stringify(data);
    });
  }

  private constructor(respond: (request: string) => Promise<string>) {
    this.respond = respond;
  }

  async call<T>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = JSON.parse(await this.respond(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })));
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}
