import type { Api } from "../../api/api.ts";
import { createMethodTable } from "../../catalogue/table.ts";
import type { Logger } from "../../log/logger.ts";
import { createJsonRpcServer } from "../../server/jsonrpc/server.ts";
import { StartupError } from "../exit.ts";
import type { SharedOptions } from "../flags/options.ts";

export interface Doors {
  close(): Promise<void>;
}

type DoorOptions = Pick<SharedOptions, "rpc" | "rpcPort" | "rpcAddress">;

/** Opens the doors that were asked for, and says where they are. */
export async function openDoors(api: Api, options: DoorOptions, logger: Logger): Promise<Doors> {
  if (!options.rpc) {
    logger.info("The JSON-RPC server is off; --rpc turns it on");
    return { close: async () => {} };
  }
  const server = createJsonRpcServer({ table: createMethodTable(api), logger: logger.topic("rpc") });
  const { url } = await server.listen({ host: options.rpcAddress, port: options.rpcPort }).catch((error: unknown) => {
    throw listenError(options, error);
  });
  logger.notice(`JSON-RPC is served at ${url}`);
  logger.notice(
    `Try: curl -s ${url} -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":[]}'`,
  );
  return server;
}

function listenError({ rpcAddress, rpcPort }: DoorOptions, error: unknown): StartupError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new StartupError(
      "listen",
      `Port ${rpcPort} of ${rpcAddress} is in use by another process; stop that one, or give another --rpc-port.`,
      error,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new StartupError("listen", `The JSON-RPC server cannot listen on ${rpcAddress}:${rpcPort}: ${reason}.`, error);
}
