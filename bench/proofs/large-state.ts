import { ssz } from "@lodestar/types";

const BALANCE = 32_000_000_000;

export type LargeState = ReturnType<typeof largeState>;

/** Builds a state with distinct arbitrary public keys. They need not be valid, as no signature is verified. */
export function largeState(validators: number) {
  const state = ssz.fulu.BeaconState.defaultViewDU();
  state.slot = state.latestBlockHeader.slot = 1;
  state.validators = ssz.phase0.Validators.deserializeToViewDU(validatorBytes(validators));
  state.balances = ssz.phase0.Balances.toViewDU(new Array(validators).fill(BALANCE));
  const flags = new Array<number>(validators).fill(7);
  state.previousEpochParticipation = ssz.altair.EpochParticipation.toViewDU(flags);
  state.currentEpochParticipation = ssz.altair.EpochParticipation.toViewDU(flags);
  state.inactivityScores = ssz.altair.InactivityScores.toViewDU(new Array(validators).fill(0));
  state.commit();
  return state;
}

function validatorBytes(count: number): Uint8Array {
  const validator = ssz.phase0.Validator.serialize({
    ...ssz.phase0.Validator.defaultValue(),
    effectiveBalance: BALANCE,
    exitEpoch: Number.POSITIVE_INFINITY,
    withdrawableEpoch: Number.POSITIVE_INFINITY,
  });
  const bytes = Buffer.alloc(count * validator.length);
  for (let index = 0; index < count; index++) {
    bytes.set(validator, index * validator.length);
    bytes.writeUInt32BE(index, index * validator.length);
  }
  return bytes;
}
