import { createHash } from "node:crypto";
import { EFFECTIVE_BALANCE_INCREMENT } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";
import { VALIDATOR_BYTES, VALIDATOR_FIELDS } from "../../src/ssz/validator-layout.ts";
import { seededRandom } from "../../test/support/random/seeded-random.ts";
import { KEY_BYTES } from "./validator-keys.ts";

const FAR_FUTURE = 2n ** 64n - 1n;

const GWEI_PER_ETHER = 1e9;
const ALL_FLAGS = 7;

/** SSZ of the state's lists with one entry per validator. */
export interface Registry {
  validators: Uint8Array;
  balances: Uint8Array;
  participation: Uint8Array;
  inactivityScores: Uint8Array;
}

interface Lifecycle {
  effectiveEther: number;
  slashed?: boolean;
  eligibility: bigint;
  activation: bigint;
  exit: bigint;
  withdrawable: bigint;
}

/** Builds a realistic registry: almost all validators active, some entering or exiting, various balances. */
export function makeRegistry(keys: Uint8Array, epoch: Epoch): Registry {
  const count = keys.length / KEY_BYTES;
  const validators = Buffer.alloc(count * VALIDATOR_BYTES);
  const balances = Buffer.alloc(count * 8);
  const participation = Buffer.alloc(count);
  const random = seededRandom(count);
  for (let index = 0; index < count; index++) {
    const { effectiveEther, slashed, eligibility, activation, exit, withdrawable } = lifecycleOf(index, epoch, random);
    const at = index * VALIDATOR_BYTES;
    validators.set(keys.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES), at);
    writeCredentials(
      validators.subarray(at + VALIDATOR_FIELDS.withdrawalCredentials, at + VALIDATOR_FIELDS.effectiveBalance),
      index,
    );
    writeUint64(validators, effectiveEther * EFFECTIVE_BALANCE_INCREMENT, at + VALIDATOR_FIELDS.effectiveBalance);
    validators[at + VALIDATOR_FIELDS.slashed] = slashed ? 1 : 0;
    validators.writeBigUInt64LE(eligibility, at + VALIDATOR_FIELDS.activationEligibilityEpoch);
    validators.writeBigUInt64LE(activation, at + VALIDATOR_FIELDS.activationEpoch);
    validators.writeBigUInt64LE(exit, at + VALIDATOR_FIELDS.exitEpoch);
    validators.writeBigUInt64LE(withdrawable, at + VALIDATOR_FIELDS.withdrawableEpoch);
    const surplus = effectiveEther > 0 ? Math.floor(random() * 0.04 * GWEI_PER_ETHER) : 0;
    writeUint64(balances, effectiveEther * GWEI_PER_ETHER + surplus, index * 8);
    const isActive = activation <= BigInt(epoch) && BigInt(epoch) < exit;
    participation[index] = isActive && random() < 0.995 ? ALL_FLAGS : 0;
  }
  return { validators, balances, participation, inactivityScores: Buffer.alloc(count * 8) };
}

/** Share of compounding validators (0x02 credentials). */
const isCompounding = (index: number) => index % 10 === 3;

function lifecycleOf(index: number, epoch: Epoch, random: () => number): Lifecycle {
  const now = BigInt(epoch);
  const eligibility = BigInt(Math.floor(random() * (epoch / 2)));
  const active = {
    effectiveEther: isCompounding(index) ? 33 + Math.floor(random() ** 8 * 2000) : random() < 0.01 ? 31 : 32,
    eligibility,
    activation: eligibility + 5n,
    exit: FAR_FUTURE,
    withdrawable: FAR_FUTURE,
  };
  switch (index % 500) {
    case 100: // Exited and withdrawn.
      return { ...active, effectiveEther: 0, exit: now - 300n, withdrawable: now - 44n };
    case 200: // Exited, not withdrawable yet.
      return { ...active, exit: now - 20n, withdrawable: now + 236n };
    case 300: // Exiting.
      return { ...active, exit: now + 40n, withdrawable: now + 296n };
    case 400:
      return { ...active, slashed: true, exit: now - 100n, withdrawable: now + 8000n };
    case 450: // Deposit too small.
      return { ...active, effectiveEther: 16, eligibility: FAR_FUTURE, activation: FAR_FUTURE };
    case 499: // Activation pending.
      return { ...active, effectiveEther: 32, eligibility: now + 1n, activation: FAR_FUTURE };
    default:
      return active;
  }
}

function writeCredentials(credentials: Uint8Array, index: number): void {
  const address = createHash("sha256").update(String(index)).digest().subarray(0, 20);
  credentials[0] = isCompounding(index) ? 2 : 1;
  credentials.set(address, 12);
}

/** Writes a number below 2 ** 53, which is faster than a bigint. */
function writeUint64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, at);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}
