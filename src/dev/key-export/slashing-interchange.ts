import { toHex } from "@lodestar/utils";
import type { SigningRecord } from "../validators/slashing-protection.ts";

/** Slashing protection data of validators (EIP-3076). */
export interface SlashingInterchange {
  readonly metadata: { readonly interchange_format_version: "5"; readonly genesis_validators_root: string };
  readonly data: readonly {
    readonly pubkey: string;
    readonly signed_blocks: readonly { readonly slot: string }[];
    readonly signed_attestations: readonly { readonly source_epoch: string; readonly target_epoch: string }[];
  }[];
}

interface SignedValidator {
  publicKey: Uint8Array;
  /** Undefined for a validator that has signed nothing. */
  signed: Pick<SigningRecord, "proposed" | "source" | "target"> | undefined;
}

/** Returns the latest signed block and attestation of each validator, which is the minimal form of the format. */
export function slashingInterchange(
  genesisValidatorsRoot: string,
  validators: readonly SignedValidator[],
): SlashingInterchange {
  return {
    metadata: { interchange_format_version: "5", genesis_validators_root: genesisValidatorsRoot },
    data: validators.map(({ publicKey, signed = { proposed: -1, source: -1, target: -1 } }) => ({
      pubkey: toHex(publicKey),
      signed_blocks: signed.proposed < 0 ? [] : [{ slot: String(signed.proposed) }],
      signed_attestations:
        signed.target < 0 ? [] : [{ source_epoch: String(signed.source), target_epoch: String(signed.target) }],
    })),
  };
}
