import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateElectra,
  type CachedBeaconStateGloas,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ExecutionRequestSink } from "../control/execution-requests.ts";
import { signDeposit } from "../genesis-deposits.ts";
import type { GenesisBuilders } from "../genesis-parameters.ts";
import { type BuilderKeychain, builderCredentials, builderDeposit } from "./builder-keychain.ts";

interface BuilderDepositsParts {
  chain: BeaconChain;
  keys: BuilderKeychain;
  /** Builders that the chain was created with. */
  builders: GenesisBuilders | undefined;
  /** Undefined if an execution client builds the payloads. */
  requests: ExecutionRequestSink | undefined;
}

/**
 * Registers the builders of a chain that crosses the fork. In the epoch before, they make deposits with builder
 * credentials, which the upgrade of the state turns into builders (gloas/fork.md,
 * onboard_builders_from_pending_deposits). Those that are missing after the fork make deposits of builders (EIP-8282).
 */
export class BuilderDeposits {
  readonly #parts: BuilderDepositsParts;
  #done: { readonly before?: true; readonly after?: true } = {};

  constructor(parts: BuilderDepositsParts) {
    this.#parts = parts;
  }

  capture(): () => void {
    const done = this.#done;
    return () => {
      this.#done = done;
    };
  }

  clear(): void {
    this.#done = {};
  }

  /** Must run before the block of the slot is proposed, in slots whose proposer acts. */
  async onSlot(slot: Slot): Promise<void> {
    const { builders, chain, requests } = this.#parts;
    const forkSlot = computeStartSlotAtEpoch(chain.config.GLOAS_FORK_EPOCH);
    if (!builders || !requests || forkSlot === 0) return;
    // Earlier deposits could be processed before the fork, as those of validators.
    if (slot < forkSlot - SLOTS_PER_EPOCH) return;
    if (slot < forkSlot) await this.#onboard(slot, builders, requests);
    else if (slot > forkSlot) await this.#register(forkSlot, builders, requests);
  }

  async #onboard(slot: Slot, { balance }: GenesisBuilders, requests: ExecutionRequestSink): Promise<void> {
    const { chain, keys } = this.#parts;
    const { config, eth1 } = chain;
    if (this.#done.before || config.getForkSeq(slot) < ForkSeq.electra) return;
    // In the first slot of electra, the state is still that of an earlier fork.
    const { pendingDeposits, eth1Data } = chain.headState as Partial<CachedBeaconStateElectra>;
    this.#done = { before: true };
    const pending = [...(pendingDeposits?.getAllReadonly() ?? []), ...(await requests.pendingDeposits())];
    const deposits = keys.all.flatMap((secretKey) => {
      const pubkey = secretKey.toPublicKey().toBytes();
      if (pending.some((deposit) => byteArrayEquals(deposit.pubkey, pubkey))) return [];
      const withdrawalCredentials = builderCredentials(pubkey);
      return [signDeposit(config, secretKey, { pubkey, withdrawalCredentials, amount: balance })];
    });
    const firstIndex = Math.max(eth1.deposits.depositCount, Number(eth1Data?.depositCount ?? 0));
    await requests.addDeposits(deposits, firstIndex);
  }

  /** Waits for a block with a payload, which opens the contracts of builders. */
  async #register(forkSlot: Slot, { balance }: GenesisBuilders, requests: ExecutionRequestSink): Promise<void> {
    const { chain, keys } = this.#parts;
    const { config, head, headNode } = chain;
    if (this.#done.after || head.slot < forkSlot || headNode.payloadStatus !== "full") return;
    this.#done = { before: true, after: true };
    const known = await this.#knownPubkeys();
    for (const secretKey of keys.all) {
      const request = builderDeposit(config, secretKey, balance);
      if (known.some((pubkey) => byteArrayEquals(pubkey, request.pubkey))) continue;
      await requests.addBuilderDeposit(request);
    }
  }

  /** Public keys in the registry and in the latest payload. */
  async #knownPubkeys(): Promise<Uint8Array[]> {
    const { chain } = this.#parts;
    const { builders } = chain.headState as CachedBeaconStateGloas;
    const registered = Array.from({ length: builders.length }, (_, index) => builders.getReadonly(index).pubkey);
    const envelope = await chain.payloadStore.get(chain.head.root);
    const requested = envelope?.message.executionRequests.builderDeposits.map(({ pubkey }) => pubkey) ?? [];
    return [...registered, ...requested];
  }
}
