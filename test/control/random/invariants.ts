import { isForkPostGloas } from "@lodestar/params";
import { expect } from "vitest";
import { VAULTS } from "./accounts.ts";
import type { CheckedBlock } from "./canonical-chain.ts";
import type { Hex } from "./json.ts";
import { clockSlot, isContested, type Scenario } from "./scenario.ts";
import { expectProven, expectStateRoot, stakeIn } from "./state-checks.ts";
import { lastOfEach } from "./state-overrides.ts";

const SLOTS_PER_EPOCH = 8;
const STATES_PER_CHECK = 8;
/** Highest rewards of all validators in an epoch by the specification, in Gwei, for 64 validators of 32 ETH. */
const REWARDS_PER_EPOCH = 200_000_000n;
/** Reward for the proposer of a slashing, in Gwei, at most: a 512th of 2,048 ETH. */
const REWARD_PER_SLASHING = 4_000_000_000n;

/** Warnings that any of the actions may cause. */
const EXPECTED_COMPLAINTS: readonly RegExp[] = [
  // Validators are offline or slashed.
  /WARN +node +(No blocks in recent slots|Chain is not finalizing)/,
];

/** Checks what must hold after every step. */
export class Invariants {
  readonly #scenario: Scenario;
  #complaintsSeen = 0;
  #counts = { blocks: 0, reorgs: 0, deepest: 0, transactions: 0, states: 0 };
  #stake: { block: CheckedBlock; stake: bigint } | undefined;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  get summary(): string {
    const { blocks, reorgs, deepest, transactions, states } = this.#counts;
    const { canonical } = this.#scenario;
    return (
      `${blocks} blocks with payloads and ${canonical.emptyCount} without up to slot ${canonical.head?.slot}, finalized slot ${canonical.finalizedSlot}, ` +
      `${transactions} transactions, ${reorgs} reorganisations up to depth ${deepest}, ${states} states`
    );
  }

  async check(): Promise<void> {
    const { canonical, overrides, ledger } = this.#scenario;
    const { gained, lost } = await canonical.follow(overrides);
    this.#counts.blocks += gained.length;
    if (lost > 0) this.#counts.reorgs++;
    this.#counts.deepest = Math.max(this.#counts.deepest, lost);
    for (const { receipts } of gained) this.#counts.transactions += receipts.length;
    await ledger.expectConserved(gained);
    await this.#expectTransactions();
    await this.#expectOverrides();
    this.#expectNoComplaints();
  }

  async checkThoroughly(): Promise<void> {
    const { canonical, choices, ledger, sent, chain } = this.#scenario;
    const { blocks, head } = canonical;
    if (head === undefined) return;
    const chosen = new Set([head, ...Array.from({ length: STATES_PER_CHECK }, () => choices.pick(blocks))]);
    for (const block of chosen) {
      await expectStateRoot(this.#scenario, block);
      this.#counts.states++;
    }
    await this.#expectStake(head);
    await expectProven(this.#scenario, head, ledger.addresses);
    await sent.expectFound(chain, canonical);
  }

  async #expectTransactions(): Promise<void> {
    const scenario = this.#scenario;
    const { chain, canonical, forks, overrides, sent } = scenario;
    const nextEpoch = Math.floor(((await clockSlot(scenario)) + 1) / SLOTS_PER_EPOCH);
    await sent.expectNoneLost({
      chain,
      canonical,
      fuluEpoch: forks.fork === "fulu" || forks.fork === "gloas" ? 0 : forks.forkAt.fulu!,
      nextEpoch,
      isContested: await isContested(scenario),
      wasNonceSet: (address) => overrides.wasNonceSet(address),
    });
    const nonces = new Map(canonical.head?.nonces);
    for (const { kind, address, value } of overrides.pending(canonical.head?.recorded ?? new Set())) {
      if (kind === "nonce") nonces.set(address, BigInt(value));
    }
    const addresses = [...nonces.keys()];
    const counts = await Promise.all(
      addresses.map((address) => chain.call<Hex>("eth_getTransactionCount", [address, "latest"])),
    );
    expect(new Map(addresses.map((address, index) => [address, BigInt(counts[index]!)]))).toEqual(nonces);
  }

  /** The accounts that only overrides change are as they were last set. */
  async #expectOverrides(): Promise<void> {
    const { chain, canonical, overrides } = this.#scenario;
    const recorded = canonical.blocks.flatMap((block) => block.overrides);
    const all = [...recorded, ...overrides.pending(canonical.head?.recorded ?? new Set())];
    for (const { kind, address, value } of lastOfEach(all)) {
      if (!VAULTS.includes(address)) continue;
      const read =
        kind === "balance"
          ? BigInt(await chain.call<Hex>("eth_getBalance", [address, "latest"]))
          : kind === "nonce"
            ? BigInt(await chain.call<Hex>("eth_getTransactionCount", [address, "latest"]))
            : kind === "code"
              ? await chain.call<Hex>("eth_getCode", [address, "latest"])
              : await chain.call<Hex>("eth_getStorageAt", [address, kind.split(" ")[1], "latest"]);
      expect(read, `${kind} of ${address}`).toBe(value);
    }
  }

  /** The stake grows by deposits and by no more than the rewards, and shrinks by withdrawals. */
  async #expectStake(head: CheckedBlock): Promise<void> {
    const { canonical } = this.#scenario;
    const stake = stakeIn(await expectStateRoot(this.#scenario, head));
    const last = this.#stake;
    this.#stake = { block: head, stake };
    const start = last === undefined ? -1 : canonical.blocks.indexOf(last.block);
    // Another branch.
    if (last === undefined || start < 0) return;
    let highest = last.stake;
    // Since gloas, a block applies the deposits of the payload before it, and withdraws what a later payload may pay.
    const isGloas = isForkPostGloas(head.fork);
    for (const { beacon, payload, requests } of canonical.blocks.slice(isGloas ? start : start + 1)) {
      const { deposits, proposer_slashings, attester_slashings } = beacon.body;
      if (!isGloas) for (const { amount } of payload.withdrawals) highest -= BigInt(amount);
      for (const { amount } of requests?.deposits ?? []) highest += BigInt(amount);
      for (const { data } of deposits) highest += BigInt(data.amount);
      highest += REWARD_PER_SLASHING * BigInt(proposer_slashings.length + 2 * attester_slashings.length);
    }
    const epochs = BigInt(Math.ceil((head.slot - last.block.slot) / SLOTS_PER_EPOCH) + 1);
    expect(stake, `stake at slot ${head.slot}`).toBeLessThanOrEqual(highest + epochs * REWARDS_PER_EPOCH);
  }

  #expectNoComplaints(): void {
    const { chain, expectedComplaints } = this.#scenario;
    const { complaints } = chain;
    const expected = [...EXPECTED_COMPLAINTS, ...expectedComplaints];
    const unexpected = complaints
      .slice(this.#complaintsSeen)
      .filter((line) => !expected.some((each) => each.test(line)));
    this.#complaintsSeen = complaints.length;
    expect(unexpected, "lines of the log").toEqual([]);
  }
}
