import type { BeaconChain } from "../../chain/chain.ts";
import { executionHashOf } from "../../chain/engine/forkchoice-state.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { EvmControl } from "../../evm/engine/evm-control.ts";
import { sidecarKzg } from "../../evm/engine/sidecar-kzg.ts";
import type { EvmThread } from "../../evm/thread/evm-thread.ts";
import type { Remote } from "../../threads/remote.ts";
import { ChainEth } from "./chain-eth.ts";
import { chainPayloads } from "./chain-payloads.ts";
import { EvmDepositLog } from "./evm-deposit-log.ts";
import { EvmRequests } from "./evm-requests.ts";
import { evmStore } from "./evm-store.ts";
import { NextPayload } from "./next-payload.ts";

interface DevEvmParts {
  chain: BeaconChain;
  db: BeaconDb;
  /** True if other nodes execute the chain's payloads (`--p2p`). */
  hasNetwork: boolean;
}

/** A chain's EVM, connected to the chain's blocks and database. */
export class DevEvm {
  readonly thread: EvmThread;
  /** Makes deposits, withdrawals and consolidations by transaction. */
  readonly requests: EvmRequests;
  /** The `eth_*` methods. */
  readonly eth: ChainEth;
  /** Provides the deposits that validators vote for before electra. */
  readonly deposits: EvmDepositLog;
  /** Resolves once the EVM is at the head. Calls made before then wait for it. */
  readonly ready: Promise<void>;
  readonly control: Remote<EvmControl>;

  /** Connects the EVM to the chain it executes. */
  constructor(thread: EvmThread, { chain, db, hasNetwork }: DevEvmParts) {
    this.thread = thread;
    const proposals = new NextPayload(chain);
    const connected = thread.connect({
      history: chainPayloads(chain),
      store: evmStore(db),
      kzg: sidecarKzg(chain.data.kzg),
      proposals,
      headBlockHash: () => executionHashOf(chain.forkChoice, chain.headNode),
      readRevision: chain.forkChoice.revision.evm,
    });
    this.ready = connected.then(() => confirmHead(chain));
    // Nothing awaits this if the node is closed before it has started.
    this.ready.catch(() => {});
    this.requests = new EvmRequests({
      wallet: thread.service("wallet"),
      depositContract: chain.config.DEPOSIT_CONTRACT_ADDRESS,
      canImpersonate: !hasNetwork,
    });
    this.eth = new ChainEth(thread.eth, chain, proposals);
    this.deposits = new EvmDepositLog({ chain, requests: this.requests });
    this.control = thread.service("control");
  }

  /** Brings the EVM to the head of the chain and restores the stored pool. */
  restore(): Promise<void> {
    return this.thread.restore();
  }
}

/** Marks the head's payload as valid, since the EVM has executed it. An imported chain has no stored verdicts. */
function confirmHead({ headNode, forkChoice }: BeaconChain): void {
  const execution = forkChoice.payloadBlock(headNode)?.execution;
  if (execution?.status === "optimistic") forkChoice.onValidPayload(execution.blockHash);
}
