import { NodeProcess } from "../support/node-process.ts";

/** Running node or gateway with its URLs. */
export interface Served {
  process: NodeProcess;
  restUrl: string;
  ports: { "JSON-RPC": number; REST: number };
}

export async function serve(name: string, args: readonly string[]): Promise<Served> {
  const process = await NodeProcess.start(name, [...args, "--rest", "--rest-port", "0"]);
  const restUrl = (await process.untilLine(/REST is served at (http:[^\s"]+)/))[1]!;
  const portOf = (url: string) => Number(new URL(url).port);
  return { process, restUrl, ports: { "JSON-RPC": portOf(process.url), REST: portOf(restUrl) } };
}

/** Starts a gateway. `upstreams` maps names to URLs. */
export function serveGateway(
  upstreams: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Served> {
  const flags = Object.entries(upstreams).flatMap(([name, url]) => ["--upstream", `${url} name=${name}`]);
  return serve("The gateway", ["gateway", ...flags, ...args]);
}

/** Starts a paused dev chain with finalized history. Slot processing would distort the measurements. */
export async function serveStillChain(directory: string, args: readonly string[] = []): Promise<Served> {
  const chain = ["--data-dir", directory, "--validators", "64", "--fork", "fulu", "--warmup-epochs", "6"];
  const served = await serve("The node", ["dev", ...chain, "--speed", "0.001", ...args]);
  await served.process.untilLine(/Dev chain is running/);
  return served;
}
