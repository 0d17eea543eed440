import { computeSigningRoot, createIndexedSignatureSetFromComponents } from "@lodestar/state-transition";
import { type bellatrix, ssz, type ValidatorIndex } from "@lodestar/types";
import { TimeSlice } from "../../../async/time-slice.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { TIME_OF_DAY } from "../../../chain/clock/time-of-day.ts";
import { type ItemFailure, rejected } from "../../../errors/failure.ts";
import { builderDomain } from "../../../execution/builder/builder-domain.ts";
import { throwIfAnyFailed } from "../../submissions.ts";

type Registration = bellatrix.SignedValidatorRegistrationV1;

/** MAX_REGISTRATION_LOOKAHEAD from builder-specs, in seconds. */
const MAX_LOOKAHEAD_SECONDS = 10;

/** Number of signatures per verification batch. */
const BATCH_SIZE = 256;

/**
 * Stores builder registrations with a valid signature (builder-specs, process_registration) and rejects the others one
 * by one. Registrations for unknown or exited validators are ignored, as the Beacon API requires.
 */
export async function registerValidators(
  chain: BeaconChain,
  registrations: readonly Registration[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const failures: ItemFailure[] = [];
  const slice = new TimeSlice();
  for (let start = 0; start < registrations.length; start += BATCH_SIZE) {
    signal?.throwIfAborted();
    failures.push(...(await registerBatch(chain, registrations.slice(start, start + BATCH_SIZE), start)));
    await slice.yieldIfDue();
  }
  throwIfAnyFailed(failures, registrations.length, rejected);
}

/** Stores a batch of registrations. `start` is the index of the first one in the submission. */
async function registerBatch(
  chain: BeaconChain,
  registrations: readonly Registration[],
  start: number,
): Promise<ItemFailure[]> {
  const { clock, preparations } = chain;
  const eligible = registrations.flatMap((registration, position) => {
    const validator = eligibleValidator(chain, registration);
    return validator === undefined ? [] : [{ index: start + position, registration, validator }];
  });
  const verdicts = await chain.validation.bls.verifyEach(
    eligible.map(({ registration, validator }) => signatureSet(chain, registration, validator)),
  );
  const failures: ItemFailure[] = [];
  for (const [position, { index, registration, validator }] of eligible.entries()) {
    const message = verdicts[position] ? tooEarly(chain, registration) : notSigned(validator);
    if (message === undefined) preparations.register(registration, clock.currentEpoch);
    else failures.push({ index, message });
  }
  return failures;
}

function eligibleValidator({ headState, clock }: BeaconChain, { message }: Registration): ValidatorIndex | undefined {
  const index = headState.epochCtx.getValidatorIndex(message.pubkey);
  if (index === null || index >= headState.validators.length) return undefined;
  return headState.validators.getReadonly(index).exitEpoch > clock.currentEpoch ? index : undefined;
}

function signatureSet({ config }: BeaconChain, { message, signature }: Registration, validator: ValidatorIndex) {
  const signingRoot = computeSigningRoot(ssz.bellatrix.ValidatorRegistrationV1, message, builderDomain(config));
  return createIndexedSignatureSetFromComponents(validator, signingRoot, signature);
}

function notSigned(validator: ValidatorIndex): string {
  return `The registration is not signed by validator ${validator}.`;
}

/**
 * Returns an error if a timestamp is in the future. Clients use the system clock, and the clock of a dev chain may be
 * behind it.
 */
function tooEarly({ clock }: BeaconChain, { message: { timestamp } }: Registration): string | undefined {
  const now = Math.floor(Math.max(clock.nowSeconds(), TIME_OF_DAY.nowSeconds()));
  if (timestamp <= now + MAX_LOOKAHEAD_SECONDS) return undefined;
  return `The timestamp ${timestamp} is more than ${MAX_LOOKAHEAD_SECONDS} seconds ahead of the current time ${now}.`;
}
