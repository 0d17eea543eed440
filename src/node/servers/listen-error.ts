import { ListenError } from "../../server/listen-error.ts";
import { StartError, type StartErrorKind } from "../start-error.ts";

interface Address {
  host: string;
  port: number;
}

type ListenerKey = "jsonRpc" | "ethRpc" | "rest" | "signer" | "metrics";

interface Listener {
  key: ListenerKey;
  noun: string;
  portInUse: StartErrorKind;
}

const LISTENERS: Readonly<Record<ListenError["server"], Listener>> = {
  "json-rpc": { key: "jsonRpc", noun: "JSON-RPC", portInUse: "rpcPortInUse" },
  "eth-rpc": { key: "ethRpc", noun: "Ethereum JSON-RPC", portInUse: "ethRpcPortInUse" },
  rest: { key: "rest", noun: "REST", portInUse: "restPortInUse" },
  signer: { key: "signer", noun: "signer", portInUse: "signerPortInUse" },
  metrics: { key: "metrics", noun: "metrics", portInUse: "metricsPortInUse" },
};

/** Converts a `ListenError` to a `StartError`. Returns other errors unchanged. */
export function listenStartError(thrown: unknown, addresses: { [Key in ListenerKey]?: Address }): unknown {
  if (!(thrown instanceof ListenError)) return thrown;
  const { key, noun, portInUse } = LISTENERS[thrown.server];
  const { host, port } = addresses[key]!;
  if (thrown.code === "EADDRINUSE") {
    return new StartError(portInUse, `Port ${port} of ${host} is in use by another process.`, thrown);
  }
  const reason = thrown.message.replace(/\.$/, "");
  return new StartError("cannotListen", `The ${noun} server cannot listen on ${host}:${port}: ${reason}.`, thrown);
}
