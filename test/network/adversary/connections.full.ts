import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { protocolId } from "../../../src/network/reqresp/protocols.ts";
import { encodePayload } from "../../../src/network/reqresp/ssz-snappy.ts";
import { eventually, Scenario } from "./support/scenario.ts";

const TARGET_PEERS = 4;
/** Headroom above the target, the direct peer, and pending connections. */
const MAX_CONNECTIONS = 5 + 1 + 10;
/** Connections accepted before the others are counted. */
const PENDING = 32;

let scenario: Scenario;
beforeAll(async () => {
  scenario = await Scenario.begin({ victim: { targetPeers: TARGET_PEERS, discovery: true } });
});
afterAll(async () => {
  const complaints = scenario.complaints();
  await scenario.end();
  expect(complaints).toEqual([]);
});

const connections = () => scenario.victim.networking.network.host.getConnections();
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const port = (kind: "tcp" | "udp") => {
  const { p2pAddresses, discoveryAddresses } = identity;
  const [address] = kind === "tcp" ? p2pAddresses : discoveryAddresses;
  return Number(address?.match(/\/(?:tcp|udp)\/(\d+)/)?.[1]);
};
let identity: Awaited<ReturnType<Scenario["victim"]["networking"]["view"]["identity"]>>;
beforeAll(async () => {
  identity = await scenario.victim.networking.view.identity();
});

it("one peer has at most one connection, however often it dials", async () => {
  const adversary = await scenario.adversary();
  const opened = new Set<string>();
  for (let i = 0; i < 8; i++) opened.add((await adversary.dial(scenario.victim.address)).id);
  expect(opened.size).toBe(8);
  const ofAdversary = () => connections().filter(({ remotePeer }) => remotePeer.equals(adversary.host.peerId)).length;
  await eventually(() => expect(adversary.host.getConnections()).toHaveLength(1));
  expect(ofAdversary()).toBe(1);
  await scenario.expectFollowing();
  await adversary.close();
});

it("excess peers are pruned, needed ones stay", async () => {
  const strangers = await Promise.all(times(24, () => scenario.stranger()));
  const most = { connections: 0 };
  const { host } = scenario.victim.networking.network;
  const onOpen = () => {
    most.connections = Math.max(most.connections, connections().length);
  };
  host.addEventListener("connection:open", onOpen);
  await Promise.all(
    strangers.map(async (stranger) => {
      await stranger.dial(scenario.victim.address).catch(() => undefined);
      if (stranger.connection) await stranger.introduce();
    }),
  );
  host.removeEventListener("connection:open", onOpen);
  expect(most.connections).toBeGreaterThan(TARGET_PEERS);
  expect(most.connections).toBeLessThanOrEqual(MAX_CONNECTIONS + PENDING);
  await eventually(() => expect(scenario.victim.networking.view.peerCounts().connected).toBeLessThanOrEqual(5));
  expect(connections().map(({ remotePeer }) => remotePeer.toString())).toContain(scenario.honest.peerId);
  await scenario.expectFollowing();
  await Promise.all(strangers.map((stranger) => stranger.close()));
});

it("peers that disconnect, with or without a goodbye, leave no state behind", async () => {
  const [polite, rude] = [await scenario.stranger(), await scenario.stranger()];
  const known = [...scenario.victim.networking.network.peers.known.values()].length;
  for (let i = 0; i < 12; i++) {
    await polite.dial(scenario.victim.address).catch(() => undefined);
    // The response may be delayed; it is not awaited.
    const stream = await polite.openStream(protocolId({ name: "goodbye", version: 1 })).catch(() => undefined);
    stream?.send(encodePayload(Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])));
    await polite.connection?.close();
    await rude.dial(scenario.victim.address).catch(() => undefined);
    rude.connection?.abort(new Error("rude"));
  }
  await scenario.expectFollowing();
  await eventually(() => {
    expect(scenario.isConnected(polite)).toBe(false);
    expect(scenario.isConnected(rude)).toBe(false);
  });
  expect([...scenario.victim.networking.network.peers.known.values()].length - known).toBeLessThanOrEqual(2);
});

it("silent or garbage connections and packets have no effect", async () => {
  const sockets = await Promise.all(
    times(60, async (i) => {
      const socket = connect(port("tcp"), "127.0.0.1");
      socket.on("error", () => {});
      await Promise.race([once(socket, "connect"), once(socket, "close")]);
      if (i % 2 === 0) socket.write(randomBytes(5000));
      return socket;
    }),
  );
  const udp = createSocket("udp4");
  for (let i = 0; i < 500; i++) udp.send(randomBytes(i % 5 === 0 ? 1400 : 63 + i), port("udp"), "127.0.0.1");
  await scenario.expectFollowing();

  const closed = (socket: Socket) => socket.closed;
  await eventually(() => expect(sockets.filter((socket, i) => i % 2 === 0 && !closed(socket))).toEqual([]));
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => udp.close(() => resolve()));
  const newcomer = await scenario.stranger();
  await eventually(async () => {
    await newcomer.dial(scenario.victim.address);
  });
  await scenario.join(newcomer);
  await scenario.expectFollowing();
});
