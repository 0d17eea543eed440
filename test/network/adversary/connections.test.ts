import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { protocolId } from "../../../src/network/reqresp/protocols.ts";
import { encodePayload } from "../../../src/network/reqresp/ssz-snappy.ts";
import { eventually, Siege } from "./support/siege.ts";

const TARGET_PEERS = 4;
/** Those that may be looked at beyond the target, the direct peer, and connections on their way. */
const MAX_CONNECTIONS = 5 + 1 + 10;
/** Those that are let in while the others are not counted yet. */
const PENDING = 32;

let siege: Siege;
beforeAll(async () => {
  siege = await Siege.begin({ victim: { targetPeers: TARGET_PEERS, discovery: true } });
});
afterAll(async () => {
  const complaints = siege.complaints();
  await siege.end();
  expect(complaints).toEqual([]);
});

const connections = () => siege.victim.networking.network.host.getConnections();
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const port = (kind: "tcp" | "udp") => {
  const { p2pAddresses, discoveryAddresses } = identity;
  const [address] = kind === "tcp" ? p2pAddresses : discoveryAddresses;
  return Number(address?.match(/\/(?:tcp|udp)\/(\d+)/)?.[1]);
};
let identity: Awaited<ReturnType<Siege["victim"]["networking"]["view"]["identity"]>>;
beforeAll(async () => {
  identity = await siege.victim.networking.view.identity();
});

test("one peer has no more than a few connections, however often it dials", async () => {
  const adversary = await siege.adversary();
  const opened = new Set<string>();
  for (let i = 0; i < 8; i++) opened.add((await adversary.dial(siege.victim.address)).id);
  expect(opened.size).toBe(8);
  const ofAdversary = () => connections().filter(({ remotePeer }) => remotePeer.equals(adversary.host.peerId)).length;
  await eventually(() => expect(adversary.host.getConnections().length).toBeLessThan(3));
  expect(ofAdversary()).toBeLessThan(3);
  await siege.expectFollowing();
  await adversary.close();
});

test("of more peers than there is room for, those that are needed stay", async () => {
  const strangers = await Promise.all(times(24, () => siege.stranger()));
  const most = { connections: 0 };
  const { host } = siege.victim.networking.network;
  const onOpen = () => {
    most.connections = Math.max(most.connections, connections().length);
  };
  host.addEventListener("connection:open", onOpen);
  await Promise.all(
    strangers.map(async (stranger) => {
      await stranger.dial(siege.victim.address).catch(() => undefined);
      if (stranger.connection) await stranger.introduce();
    }),
  );
  host.removeEventListener("connection:open", onOpen);
  expect(most.connections).toBeGreaterThan(TARGET_PEERS);
  expect(most.connections).toBeLessThanOrEqual(MAX_CONNECTIONS + PENDING);
  await eventually(() => expect(siege.victim.networking.view.peerCounts().connected).toBeLessThanOrEqual(5));
  expect(connections().map(({ remotePeer }) => remotePeer.toString())).toContain(siege.honest.peerId);
  await siege.expectFollowing();
  await Promise.all(strangers.map((stranger) => stranger.close()));
});

test("who comes and goes, with a goodbye or without, leaves nothing behind", async () => {
  const [polite, rude] = [await siege.stranger(), await siege.stranger()];
  const known = [...siege.victim.networking.network.peers.known.values()].length;
  for (let i = 0; i < 12; i++) {
    await polite.dial(siege.victim.address).catch(() => undefined);
    // The answer may be withheld for a while; nobody waits for it.
    const stream = await polite.openStream(protocolId({ name: "goodbye", version: 1 })).catch(() => undefined);
    stream?.send(encodePayload(Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])));
    await polite.connection?.close();
    await rude.dial(siege.victim.address).catch(() => undefined);
    rude.connection?.abort(new Error("rude"));
  }
  await siege.expectFollowing();
  await eventually(() => {
    expect(siege.isConnected(polite)).toBe(false);
    expect(siege.isConnected(rude)).toBe(false);
  });
  expect([...siege.victim.networking.network.peers.known.values()].length - known).toBeLessThanOrEqual(2);
});

test("sockets on which nothing or nonsense is said do not matter, and neither do packets of it", async () => {
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
  await siege.expectFollowing();

  const closed = (socket: Socket) => socket.closed;
  await eventually(() => expect(sockets.filter((socket, i) => i % 2 === 0 && !closed(socket))).toEqual([]));
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => udp.close(() => resolve()));
  const newcomer = await siege.stranger();
  await eventually(async () => {
    await newcomer.dial(siege.victim.address);
  });
  await siege.join(newcomer);
  await siege.expectFollowing();
});
