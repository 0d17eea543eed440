import type { DevChain } from "../../dev/dev-chain.ts";
import type { SlashingProtection } from "../../dev/validators/slashing-protection.ts";
import type { Logger } from "../../log/logger.ts";
import { ListenError } from "../../server/listen-error.ts";
import type { SignerKeys } from "../../signer/signer-server.ts";
import { listenStartError } from "./listen-error.ts";
import type { ApiOptions } from "./servers.ts";

type SignedChain = Pick<DevChain, "chain" | "control" | "registeredKeys">;

interface Signer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the Web3Signer API server, which is loaded lazily. */
export async function startSigner(
  devChain: SignedChain & Pick<DevChain, "config">,
  protection: SlashingProtection,
  options: ApiOptions,
  logger: Logger,
): Promise<Signer> {
  const { createSignerServer } = await import("../../signer/signer-server.ts");
  const { config } = devChain;
  const server = createSignerServer({ config, keys: keysOf(devChain), protection, access: options.access, logger });
  try {
    const { url } = await server.listen(options);
    return { url, close: () => server.close() };
  } catch (error) {
    throw listenStartError(new ListenError("signer", error as NodeJS.ErrnoException), { signer: options });
  }
}

/** Lists the keys of offline validators, which a client may run, but signs with any key of the chain. */
function keysOf({ chain, control, registeredKeys }: SignedChain): SignerKeys {
  return {
    publicKeys() {
      const { validators } = chain.headState;
      return control.validators.presence().offline.map((index) => validators.getReadonly(index).pubkey);
    },
    find(publicKey) {
      const index = chain.headState.epochCtx.pubkeyCache.getIndex(publicKey);
      const secretKey = index === null ? undefined : registeredKeys.secretKey(index);
      return index === null || secretKey === undefined ? undefined : { index, secretKey };
    },
    isOnline: (index) => control.validators.presence().online.includes(index),
  };
}
