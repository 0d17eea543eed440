import { type EthServer, startAnvil, startEdr, startFanal } from "../eth/servers.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { takeTurns } from "../support/turns.ts";
import { VALIDATORS } from "./benched-chain.ts";
import type { Duration, Row } from "./row.ts";
import { timeSignature } from "./signature.ts";

const ROUNDS = 9;
const TIMES_PER_ROUND = 50;
/** Lets the JIT compile the hot paths before the measurement. */
const WARM_UP_TRANSACTIONS = 400;
const MAX_CALLS = 1000;

/** Measures slots and automined transactions of a chain with the EVM in signatures, and beside Anvil and EDR. */
export function automineRows(): Promise<Row[]> {
  return withTempDirectory(async (directory) => {
    const { eth, beacon } = await startFanal(directory, { validators: VALIDATORS });
    const others = [await startAnvil(), await startEdr()].filter((server) => server !== undefined);
    const servers = [{ ...eth, name: "Fanal" }, ...others];
    try {
      const accounts = new Map<EthServer, string[]>();
      for (const server of servers) accounts.set(server, await server.call<string[]>("eth_accounts"));
      const send = (server: EthServer) => sendAndAwait(server, accounts.get(server)!);
      for (const server of servers) for (let sent = 0; sent < WARM_UP_TRANSACTIONS; sent++) await send(server);
      const [signature, slots, slot, ...rest] = await takeTurns(ROUNDS, [
        timeSignature,
        () => spread(beacon, 1, () => beacon.call("dev_advance", TIMES_PER_ROUND)),
        () => spread(beacon, TIMES_PER_ROUND, () => beacon.call("dev_advance", 1)),
        ...servers.map((server) => () => spread(server, TIMES_PER_ROUND, () => send(server))),
        ...servers.map((server) => () => spread(server, TIMES_PER_ROUND, () => revertAfterSending(server, send))),
      ]);
      const unit = mediansOf(signature!);
      const [together, alone] = [mediansOf(slots!), mediansOf(slot!)];
      const sent = rest.slice(0, servers.length).map(mediansOf);
      const reverted = rest.slice(servers.length).map(mediansOf);
      return [
        { what: "one BLS signature", figure: describe(unit) },
        { what: "a slot of `dev_advance`, with the EVM", figure: inSignatures(together, unit) },
        { what: "a slot, each in a call of its own", figure: inSignatures(alone, unit) },
        { what: "an automined transaction and its receipt", figure: inSignatures(sent[0]!, unit) },
        { what: "its excess over such a slot", figure: describe(difference(sent[0]!, alone)) },
        ...servers.flatMap(({ name }, index) => [
          { what: `${name}: automined transactions`, figure: rate(sent[index]!) },
          { what: `${name}: snapshot, transaction and revert`, figure: rate(reverted[index]!) },
        ]),
      ];
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
}

let sentCount = 0;

async function sendAndAwait(server: EthServer, [from, to]: readonly string[]): Promise<void> {
  const value = `0x${(++sentCount).toString(16)}`;
  const hash = await server.call("eth_sendTransaction", { from, to, value });
  // Anvil confirms a transaction before it is in a block.
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    if ((await server.call("eth_getTransactionReceipt", hash)) !== null) return;
  }
  throw new Error(`${server.name}: the transaction has no receipt.`);
}

async function revertAfterSending(server: EthServer, send: (server: EthServer) => Promise<void>): Promise<void> {
  const id = await server.call("evm_snapshot");
  await send(server);
  if (server.name === "Anvil") await untilPoolIsEmpty(server);
  await server.call("evm_revert", id);
}

/** Anvil has receipts before it empties its pool, and a revert in between leaves the pool with a wrong nonce. */
async function untilPoolIsEmpty(server: EthServer): Promise<void> {
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const { pending } = await server.call<{ pending: string }>("txpool_status");
    if (Number(pending) === 0) return;
  }
  throw new Error(`${server.name}: the pool does not become empty.`);
}

/** Repeats the work. Returns its mean duration, and the mean CPU time of the server. */
async function spread(server: EthServer, times: number, work: () => Promise<unknown>): Promise<Required<Duration>> {
  const before = await server.cpuMicroseconds();
  const begin = performance.now();
  for (let done = 0; done < times; done++) await work();
  const elapsedMs = (performance.now() - begin) / TIMES_PER_ROUND;
  return { elapsedMs, spentMs: ((await server.cpuMicroseconds()) - before) / 1000 / TIMES_PER_ROUND };
}

const mediansOf = (durations: readonly Required<Duration>[]): Required<Duration> => ({
  elapsedMs: median(durations.map(({ elapsedMs }) => elapsedMs)),
  spentMs: median(durations.map(({ spentMs }) => spentMs)),
});

const difference = (one: Required<Duration>, other: Required<Duration>): Required<Duration> => ({
  elapsedMs: one.elapsedMs - other.elapsedMs,
  spentMs: one.spentMs - other.spentMs,
});

const describe = ({ elapsedMs, spentMs }: Required<Duration>) =>
  `${elapsedMs.toFixed(2)} ms, ${spentMs.toFixed(2)} ms CPU`;

function inSignatures(duration: Required<Duration>, unit: Required<Duration>): string {
  const [elapsed, spent] = [duration.elapsedMs / unit.elapsedMs, duration.spentMs / unit.spentMs];
  return `${describe(duration)}: ${elapsed.toFixed(1)} signatures, ${spent.toFixed(1)} by CPU`;
}

const rate = ({ elapsedMs, spentMs }: Required<Duration>) =>
  `${(1000 / elapsedMs).toFixed(0)} per second, ${spentMs.toFixed(2)} ms CPU each`;
