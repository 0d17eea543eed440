import type { Api } from "../../api/api.ts";
import { createRouteTable } from "../../catalogue/rest/table.ts";
import { createMethodTable } from "../../catalogue/table.ts";
import type { Logger } from "../../log/logger.ts";
import { createJsonRpcServer, type ListeningAddress } from "../../server/jsonrpc/server.ts";
import type { MethodTable } from "../../server/method-table.ts";
import { createRestServer } from "../../server/rest/server.ts";
import { StartupError } from "../exit.ts";
import type { SharedOptions } from "../flags/options.ts";

export interface Doors {
  close(): Promise<void>;
}

type DoorOptions = Pick<
  SharedOptions,
  "rpc" | "rpcPort" | "rpcAddress" | "rest" | "restPort" | "restAddress" | "restAllowOrigin"
>;

/** Opens the doors that were asked for, and says where they are. */
export async function openDoors(api: Api, options: DoorOptions, logger: Logger): Promise<Doors> {
  const methods = createMethodTable(api);
  const opened: Door[] = [];
  const close = async () => {
    await Promise.all(opened.map((door) => door.close()));
  };
  try {
    if (options.rpc) opened.push(await openJsonRpc(methods, options, logger));
    else logger.info("The JSON-RPC server is off; --rpc turns it on");
    if (options.rest) opened.push(await openRest(api, methods, options, logger));
    else logger.info("The REST server is off; --rest turns it on");
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

interface Door {
  listen(where: { host: string; port: number }): Promise<ListeningAddress>;
  close(): Promise<void>;
}

async function openJsonRpc(table: MethodTable, { rpcAddress, rpcPort }: DoorOptions, logger: Logger): Promise<Door> {
  const server = createJsonRpcServer({ table, logger: logger.topic("rpc") });
  const url = await listen(server, { host: rpcAddress, port: rpcPort }, { noun: "JSON-RPC", flag: "--rpc-port" });
  logger.notice(`JSON-RPC is served at ${url}`);
  logger.notice(
    `Try: curl -s ${url} -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":[]}'`,
  );
  return server;
}

async function openRest(api: Api, methods: MethodTable, options: DoorOptions, logger: Logger): Promise<Door> {
  const { restAddress, restPort, restAllowOrigin } = options;
  const table = createRouteTable(api, methods);
  const server = createRestServer({ table, allowedOrigins: restAllowOrigin, logger: logger.topic("rest") });
  const url = await listen(server, { host: restAddress, port: restPort }, { noun: "REST", flag: "--rest-port" });
  logger.notice(`REST is served at ${url}`);
  return server;
}

async function listen(
  door: Door,
  where: { host: string; port: number },
  { noun, flag }: { noun: string; flag: string },
): Promise<string> {
  try {
    return (await door.listen(where)).url;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE") {
      const message = `Port ${where.port} of ${where.host} is in use by another process; stop that one, or give another ${flag}.`;
      throw new StartupError("listen", message, error);
    }
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The ${noun} server cannot listen on ${where.host}:${where.port}: ${reason}.`;
    throw new StartupError("listen", message, error);
  }
}
