import type { PeerJudge } from "../peers/peer-judge.ts";
import type { ProtocolName } from "./protocols.ts";
import type { RequestError } from "./request-error.ts";
import { ResponseCode } from "./response-chunk.ts";

/** Without these a peer is of no use to anybody. */
const INDISPENSABLE: ReadonlySet<ProtocolName> = new Set(["status", "ping", "metadata"]);

/** Holds a failed request against the peer as far as it is the peer's fault. */
export function penalizeFailure(judge: PeerJudge, peerId: string, name: ProtocolName, error: RequestError): void {
  switch (error.failure) {
    case "malformed":
      judge.penalize(peerId, "severe", `${name}: ${error.message}`);
      break;
    case "timeout":
      judge.penalize(peerId, "moderate", `${name}: ${error.message}`);
      break;
    case "refused":
      // Other codes say that we asked for too much, or for what the peer does not have.
      if (error.code === undefined || error.code === ResponseCode.SERVER_ERROR) {
        judge.penalize(peerId, "mild", `${name}: ${error.message}`);
      }
      break;
    case "unsupported":
      if (INDISPENSABLE.has(name)) judge.penalize(peerId, "severe", `${name}: ${error.message}`);
      break;
    case "disconnected":
      break;
  }
}
