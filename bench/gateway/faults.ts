import { setTimeout as delay } from "node:timers/promises";
import { FaultyLink } from "../../test/support/sockets/faulty-link.ts";
import { quantile } from "../support/statistics.ts";
import { milliseconds, printHeader, printRow } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Load, rpcRequest } from "./load.ts";
import { type Served, serve, serveGateway } from "./programs.ts";

const VALIDATORS = 64;
const CONNECTIONS = 16;
const BEFORE_MILLIS = 1000;
const FAULT_SECONDS = 6;
const SLOW_MILLIS = 400;

interface Fault {
  title: string;
  begin(second: Served, link: FaultyLink): void;
  end?(second: Served, link: FaultyLink): void;
}

const mend = (_second: Served, link: FaultyLink) => link.mend();

const FAULTS: readonly Fault[] = [
  { title: "none", begin: () => {} },
  {
    title: `responses delayed by ${SLOW_MILLIS} ms`,
    begin: (_, link) => link.pass((bytes) => delay(SLOW_MILLIS, bytes)),
    end: mend,
  },
  {
    title: "garbage instead of responses",
    begin: (_, link) => link.pass((bytes) => Buffer.alloc(bytes.length, "#")),
    end: mend,
  },
  { title: "truncated responses", begin: (_, link) => link.pass("truncate"), end: mend },
  { title: "no packets, connections stay open", begin: (_, link) => link.pass("drop"), end: mend },
  {
    title: "frozen (SIGSTOP)",
    begin: ({ process }) => process.child.kill("SIGSTOP"),
    end: ({ process }) => process.child.kill("SIGCONT"),
  },
  { title: "killed (SIGKILL)", begin: ({ process }) => process.child.kill("SIGKILL") },
];

/** Measures reads through a gateway with two upstreams from the start of a fault of one upstream. */
export function benchFaults(): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const p2p = ["--p2p-port", "0", "--p2p-address", "127.0.0.1"];
    const chain = ["--validators", String(VALIDATORS), "--fork", "fulu", "--warmup-epochs", "4", "--slot-seconds", "2"];
    const first = await serve("The first node", ["dev", "--p2p", ...p2p, ...chain, "--data-dir", `${directory}/first`]);
    const [, network] = await first.process.untilLine(/Another node joins with: fanal node --network (\S+) /);
    const second = await serve("The second node", [
      ...["node", "--network", network!, ...p2p],
      ...["--data-dir", `${directory}/second`],
    ]);
    const head = await first.process.headSlot();
    await second.process.callUntil<{ head_slot: string }>("getChainHead", ({ head_slot }) => Number(head_slot) >= head);
    const link = await FaultyLink.to(second.restUrl);
    const gateway = await serveGateway({ first: first.restUrl, second: link.url }, [
      "--metrics",
      "--metrics-port",
      "0",
    ]);
    const [, metricsUrl] = await gateway.process.untilLine(/Metrics are served at (http:[^\s"]+)/);
    const load = await Load.start();
    let failed = 0;
    try {
      printHeader("fault of one of two upstreams", "reads", "failed", "p50", "p99", "longest");
      for (const fault of FAULTS) {
        await untilReady(metricsUrl!);
        failed += await bench(fault, { first, second, link, gateway, load });
      }
      return failed === 0;
    } finally {
      await load.end();
      await gateway.process.stop();
      await link.close();
      await second.process.kill();
      await first.process.stop();
    }
  });
}

interface Setting {
  first: Served;
  second: Served;
  link: FaultyLink;
  gateway: Served;
  load: Load;
}

/** Prints a row. Returns the number of failed reads. */
async function bench({ title, begin, end }: Fault, { first, second, link, gateway, load }: Setting): Promise<number> {
  const head = await first.process.headSlot();
  const indices = Array.from({ length: VALIDATORS }, (_, index) => String(index));
  const method = "get_v1_beacon_states_stateId_validators_validatorId";
  // Unfinalized slots that both upstreams have: nothing is cached, and both can respond.
  const requests = [head - 2, head - 3].flatMap((slot) =>
    indices.map((index) => rpcRequest(method, [String(slot), index])),
  );
  const seconds = BEFORE_MILLIS / 1000 + FAULT_SECONDS;
  const loading = load.run({ port: gateway.ports["JSON-RPC"], requests, connections: CONNECTIONS, seconds });
  await delay(BEFORE_MILLIS);
  const beganAt = Date.now();
  begin(second, link);
  const { sentAt, millis, failures } = await loading;
  end?.(second, link);
  // Includes requests in flight when the fault began.
  const during = millis.filter((each, index) => sentAt[index]! + each >= beganAt);
  const quantiles = [0.5, 0.99, 1].map((share) => milliseconds(quantile(during, share)));
  printRow(title, String(during.length), String(failures.length), ...quantiles);
  for (const failure of failures.slice(0, 3)) console.error(`Failed: ${failure}`);
  return failures.length;
}

async function untilReady(metricsUrl: string): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(metricsUrl)).text();
    if ((metrics.match(/condition="ready"\} 1$/gm) ?? []).length === 2) return;
    await delay(50);
  }
}
