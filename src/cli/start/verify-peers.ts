import type { NetworkSettings } from "../../network/network-settings.ts";
import { usageError } from "../exit.ts";

/** Verifies the signatures of bootnode records and the peer ids of direct peers. */
export async function verifyPeers({ bootnodes, directPeers }: NetworkSettings): Promise<void> {
  if (bootnodes.length > 0) {
    const { ENR } = await import("@chainsafe/enr");
    for (const record of bootnodes) {
      refuseIf(() => ENR.decodeTxt(record), `The bootnode ${record} is not accepted`);
    }
  }
  if (directPeers.length > 0) {
    const [{ multiaddr }, { peerIdFromString }] = await Promise.all([
      import("@multiformats/multiaddr"),
      import("@libp2p/peer-id"),
    ]);
    for (const address of directPeers) {
      const check = () => peerIdFromString(multiaddr(address).getComponents().at(-1)?.value ?? "");
      refuseIf(check, `The value "${address}" of --peer is not accepted`);
    }
  }
}

function refuseIf(check: () => unknown, complaint: string): void {
  try {
    check();
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    throw usageError(`${complaint}: ${reason}.`, error);
  }
}
