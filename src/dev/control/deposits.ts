import { SecretKey } from "@chainsafe/blst";
import { ForkSeq, MAX_DEPOSITS } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import { type phase0, ssz, type ValidatorIndex } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import { ControlRefusal, type MadeOperation } from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { blsWithdrawalCredentials } from "../genesis-deposits.ts";
import type { RegisteredKeys } from "../registered-keys.ts";
import { signDeposit } from "../signed-deposit.ts";
import { type DepositLog, VOTING_PERIOD } from "./deposit-log.ts";
import type { ExecutionRequestQueue } from "./execution-requests.ts";

/** A seed of a key that no validator has, for signatures that are wrong. */
const NOBODYS_SEED = new Uint8Array(32).fill(0xba);

interface DevDepositsParts {
  chain: BeaconChain;
  keys: RegisteredKeys;
  requests: ExecutionRequestQueue;
  log: DepositLog;
}

/** The deposits of a dev chain without a deposit contract: requests of payloads from electra on, before that entries of a log. */
export class DevDeposits {
  readonly #parts: DevDepositsParts;

  constructor(parts: DevDepositsParts) {
    this.#parts = parts;
  }

  /** Signed with the key of the validator, or wrongly where the chain does not have it: nobody looks at it. */
  topUp(index: ValidatorIndex, message: phase0.DepositMessage, isBadlySigned: boolean): phase0.DepositData {
    return this.#sign(this.#parts.keys.secretKey(index), message, isBadlySigned);
  }

  /** With the next of the chain's keys, and credentials that these control if there are no others. */
  async forNew(
    state: CachedBeaconStateAllForks,
    count: number,
    { amount, withdrawalCredentials }: Pick<phase0.DepositMessage, "amount"> & Partial<phase0.DepositMessage>,
    isBadlySigned: boolean,
  ): Promise<phase0.DepositData[]> {
    const first = await this.#nextEntrant(state);
    return Array.from({ length: count }, (_, n) => {
      const { secretKey, publicKey: pubkey } = this.#parts.keys.entrant(first + n);
      const message = {
        pubkey,
        withdrawalCredentials: withdrawalCredentials ?? blsWithdrawalCredentials(pubkey),
        amount,
      };
      return this.#sign(secretKey, message, isBadlySigned);
    });
  }

  async make(state: CachedBeaconStateAllForks, deposits: readonly phase0.DepositData[]): Promise<MadeOperation[]> {
    const { chain, requests, log } = this.#parts;
    if (state.config.getForkSeq(state.slot) < ForkSeq.electra) {
      const waiting = Math.max(0, chain.eth1.deposits.depositCount - state.eth1DepositIndex);
      requireTimeForVote(state, waiting + deposits.length);
      await log.add(deposits);
      const { DepositData } = ssz.phase0;
      return deposits.map((each) => ({ type: "deposit_data", status: "logged", data: DepositData.toJson(each) }));
    }
    const before = Math.max(chain.eth1.deposits.depositCount, Number(state.eth1Data.depositCount));
    const made = await requests.addDeposits(deposits, before);
    const { DepositRequest } = ssz.electra;
    return made.map((each) => ({ type: "deposit_request", status: "queued", data: DepositRequest.toJson(each) }));
  }

  #sign(secretKey: SecretKey | undefined, message: phase0.DepositMessage, isBadlySigned: boolean): phase0.DepositData {
    const signing = isBadlySigned || !secretKey ? SecretKey.fromKeygen(NOBODYS_SEED) : secretKey;
    return signDeposit(this.#parts.chain.config, signing, message);
  }

  /**
   * The index that the next validator has which enters. Those whose deposit is on its way come before; a deposit with a bad
   * signature makes nobody a validator.
   */
  async #nextEntrant(state: CachedBeaconStateAllForks): Promise<ValidatorIndex> {
    const { chain, keys, requests, log } = this.#parts;
    const isElectra = state.config.getForkSeq(state.slot) >= ForkSeq.electra;
    const waiting: phase0.DepositData[] = [
      ...(await log.deposits()),
      ...(await requests.waitingDeposits()),
      ...(isElectra ? (state as CachedBeaconStateElectra).pendingDeposits.getAllReadonlyValues() : []),
    ];
    const isOnItsWay = (index: ValidatorIndex) => {
      const { secretKey, publicKey } = keys.entrant(index);
      return waiting.some((deposit) => {
        if (!byteArrayEquals(deposit.pubkey, publicKey)) return false;
        return byteArrayEquals(signDeposit(chain.config, secretKey, deposit).signature, deposit.signature);
      });
    };
    let next = state.validators.length;
    while (isOnItsWay(next)) next++;
    return next;
  }
}

/** A vote begins with the next period and takes more than half of it; then each block takes some of the deposits. In fulu none does. */
function requireTimeForVote({ slot, config }: CachedBeaconStateAllForks, waiting: number): void {
  const nextPeriod = (Math.floor(slot / VOTING_PERIOD) + 1) * VOTING_PERIOD;
  const lastTaken = nextPeriod + VOTING_PERIOD / 2 + Math.ceil(waiting / MAX_DEPOSITS);
  const fulu = computeStartSlotAtEpoch(config.FULU_FORK_EPOCH);
  if (lastTaken < fulu) return;
  throw ControlRefusal.against(
    `A deposit that is made now waits for a vote, after which it is taken by slot ${lastTaken}; but fulu begins at slot ${fulu}, where deposits ` +
      `come with payloads alone. From electra on they do so, too: make it at slot ${computeStartSlotAtEpoch(config.ELECTRA_FORK_EPOCH)} or later.`,
  );
}
