import type { BeaconBlock, BLSSignature, SignedBeaconBlock } from "@lodestar/types";
import type { DeferredSignature } from "../pools/pooled-signature.ts";

/** Signed block whose signature is made when it is first read, for example to store the block. */
export function lazilySignedBlock(message: BeaconBlock, deferred: DeferredSignature): SignedBeaconBlock {
  let signature: BLSSignature | undefined;
  return {
    message,
    get signature() {
      signature ??= deferred.sign().toBytes();
      return signature;
    },
  };
}
