import { createECDH, randomBytes } from "node:crypto";
import { noise } from "@chainsafe/libp2p-noise";
import { gossipsub } from "@libp2p/gossipsub";
import { identify } from "@libp2p/identify";
import { mplex } from "@libp2p/mplex";
import { tcp } from "@libp2p/tcp";
import { createLibp2p } from "libp2p";
import { afterEach, describe, expect, it } from "vitest";
import { createHost, type Host, type HostOptions } from "./host.ts";

const running: { stop(): void | Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.stop()));
});

function publicKeyOf(key: Uint8Array): Buffer {
  const ecdh = createECDH("secp256k1");
  ecdh.setPrivateKey(key);
  return ecdh.getPublicKey(null, "compressed");
}

async function startHost(options: Partial<HostOptions> = {}): Promise<Host> {
  const host = await createHost({
    key: randomBytes(32),
    listen: { address: "127.0.0.1", port: 0 },
    agentVersion: "Fanal/v1.2.3",
    maxConnections: 10,
    pubsub: (components) => gossipsub()(components),
    ...options,
  });
  await host.start();
  running.push(host);
  return host;
}

describe("host", () => {
  it("is identified by its key and agent, and negotiates yamux", async () => {
    const key = randomBytes(32);
    const [first, second] = await Promise.all([startHost({ key }), startHost()]);
    const identified = new Promise<string | undefined>((resolve) =>
      second.addEventListener("peer:identify", ({ detail }) => resolve(detail.agentVersion)),
    );

    const connection = await second.dial(first.getMultiaddrs());

    expect(connection.multiplexer).toBe("/yamux/1.0.0");
    expect(connection.encryption).toBe("/noise");
    expect(await identified).toBe("Fanal/v1.2.3");
    expect(first.peerId.publicKey?.raw).toEqual(Uint8Array.from(publicKeyOf(key)));
    expect(first.getMultiaddrs().map(String)).toEqual([
      expect.stringMatching(new RegExp(`^/ip4/127\\.0\\.0\\.1/tcp/[1-9][0-9]*/p2p/${first.peerId.toString()}$`)),
    ]);
  });

  it("falls back to mplex, with many streams in a short time", async () => {
    const host = await startHost();
    const other = await createLibp2p({
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [mplex()],
      services: { identify: identify() },
    });
    running.push(other);
    await host.handle("/test", (stream) => stream.close());

    const connection = await other.dial(host.getMultiaddrs());
    for (let count = 0; count < 30; count++) await (await connection.newStream("/test")).close();

    expect(connection.multiplexer).toBe("/mplex/6.7.0");
    expect(connection.status).toBe("open");
  });

  it("neither dials nor accepts a disallowed peer", async () => {
    const banned = new Set<string>();
    const [host, other] = await Promise.all([startHost({ allowPeer: (peerId) => !banned.has(peerId) }), startHost()]);
    const connected: string[] = [];
    host.addEventListener("peer:connect", ({ detail }) => connected.push(detail.toString()));
    banned.add(other.peerId.toString());

    await expect(host.dial(other.getMultiaddrs())).rejects.toThrow();
    // The connection may appear open to the dialing side until the other side refuses it.
    const inbound = await other.dial(host.getMultiaddrs()).catch(() => undefined);
    if (inbound?.status === "open") await new Promise((resolve) => inbound.addEventListener("close", resolve));
    expect(connected).toEqual([]);

    banned.clear();
    await host.dial(other.getMultiaddrs());
    expect(connected).toEqual([other.peerId.toString()]);
  });

  it("neither dials a banned address nor accepts connections from it", async () => {
    const addresses: string[] = [];
    let isBanned = true;
    const allowAddress = (ip: string) => {
      addresses.push(ip);
      return !isBanned;
    };
    const [host, other] = await Promise.all([startHost({ allowAddress }), startHost()]);
    const connected: string[] = [];
    host.addEventListener("peer:connect", ({ detail }) => connected.push(detail.toString()));

    await expect(host.dial(other.getMultiaddrs())).rejects.toThrow();
    await expect(other.dial(host.getMultiaddrs())).rejects.toThrow();
    expect(connected).toEqual([]);
    expect(new Set(addresses)).toEqual(new Set(["127.0.0.1"]));

    isBanned = false;
    await host.dial(other.getMultiaddrs());
    expect(connected).toEqual([other.peerId.toString()]);
  });
});
