import type { BeaconChain } from "../../chain/chain.ts";
import { blockHashOf } from "../../chain/engine/forkchoice-state.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { EvmEngine } from "../../evm/engine/evm-engine.ts";
import { sidecarKzg } from "../../evm/engine/sidecar-kzg.ts";
import { LocalEthService } from "../../evm/eth/local-eth-service.ts";
import { ChainEth } from "./chain-eth.ts";
import { chainPayloads } from "./chain-payloads.ts";
import { EvmRequests } from "./evm-requests.ts";
import { evmStore } from "./evm-store.ts";

/** The EVM of a chain, connected to its blocks and its database. */
export class DevEvm {
  readonly engine: EvmEngine;
  /** Makes deposits, withdrawals and consolidations by transaction. */
  readonly requests: EvmRequests;
  /** The `eth_*` methods. */
  readonly eth: ChainEth;
  readonly #chain: BeaconChain;

  /** Connects an engine to the chain that it executes, and brings it to the head. */
  static async connect(engine: EvmEngine, chain: BeaconChain, db: BeaconDb): Promise<DevEvm> {
    engine.connect({ history: chainPayloads(chain), store: evmStore(db), kzg: sidecarKzg(chain.data.kzg) });
    const evm = new DevEvm(engine, chain);
    await evm.restore();
    return evm;
  }

  private constructor(engine: EvmEngine, chain: BeaconChain) {
    this.engine = engine;
    this.#chain = chain;
    this.requests = new EvmRequests(engine, chain.config.DEPOSIT_CONTRACT_ADDRESS);
    this.eth = new ChainEth(new LocalEthService(engine), chain);
  }

  /** Brings the engine to the head of the chain, with the stored pool. */
  async restore(): Promise<void> {
    const blockHash = blockHashOf(this.#chain.head);
    if (blockHash !== null) await this.engine.restore(blockHash);
  }

  capture(): () => void {
    return this.engine.capture();
  }
}
