import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type BLSSignature, type DomainType, type Slot, ssz } from "@lodestar/types";
import type { ValidatorKey } from "../json-rpc-validator/keys.ts";

/** Signs a message in the domain of the slot's fork. */
export function sign<T>(
  config: BeaconConfig,
  { secretKey }: ValidatorKey,
  domainType: DomainType,
  slot: Slot,
  type: Type<T>,
  message: T,
): BLSSignature {
  const domain = config.getDomain(slot, domainType);
  const signingRoot = ssz.phase0.SigningData.hashTreeRoot({ objectRoot: type.hashTreeRoot(message), domain });
  return secretKey.sign(signingRoot).toBytes();
}
