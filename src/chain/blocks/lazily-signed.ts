import type { BLSSignature } from "@lodestar/types";
import type { DeferredSignature } from "../pools/pooled-signature.ts";

/** Signed block or envelope whose signature is made when it is first read, for example to store the message. */
export function lazilySigned<Message>(
  message: Message,
  deferred: DeferredSignature,
): { message: Message; signature: BLSSignature } {
  let signature: BLSSignature | undefined;
  return {
    message,
    get signature() {
      signature ??= deferred.sign().toBytes();
      return signature;
    },
  };
}
