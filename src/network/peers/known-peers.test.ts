import type { Connection } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { ssz } from "@lodestar/types";
import { multiaddr } from "@multiformats/multiaddr";
import { describe, expect, it } from "vitest";
import { addAddress, applyIdentify, identifiedAddresses, KnownPeers } from "./known-peers.ts";

const ID = "16Uiu2HAm5hPxT7s3TA2f4b4YjAPzS7yLRSgdj87ysDZ6NAXMiRuY";

describe("KnownPeers", () => {
  it("evicts never connected peers first, connected and kept peers never", () => {
    const forgotten: string[] = [];
    const known = new KnownPeers({ maxPeers: 4, forgotten: (id) => forgotten.push(id) });
    known.keep("kept");
    known.touch("kept");
    known.touch("connected").state = "connected";
    known.touch("former").status = ssz.fulu.Status.defaultValue();
    for (const id of ["1", "2", "3"]) known.touch(id);
    expect(forgotten).toEqual(["1", "2"]);
    expect(Array.from(known.values(), ({ id }) => id)).toEqual(["kept", "connected", "former", "3"]);
    known.touch("4").state = "connected";
    known.touch("5");
    expect(forgotten).toEqual(["1", "2", "3", "former"]);
  });

  it("caps self-reported texts", () => {
    const peer = new KnownPeers().touch(ID);
    for (let port = 0; port < 100; port++) addAddress(peer, `/ip4/127.0.0.1/tcp/${port}/p2p/${ID}`);
    applyIdentify(peer, { agentVersion: "x".repeat(10_000), protocols: Array.from({ length: 1_000 }, () => "/a") });
    expect(peer.addresses.size).toBeLessThan(20);
    expect([...peer.addresses].at(-1)).toContain("/tcp/99/");
    expect(peer.agentVersion.length).toBeLessThan(1_000);
    expect(peer.protocols.length).toBeLessThan(100);
  });

  it("ignores identified loopback addresses of remote peers and unsupported transports", () => {
    const listenAddrs = [
      "/ip4/127.0.0.1/tcp/8545",
      "/ip6/::1/tcp/9000",
      "/ip4/192.0.2.1/udp/9000/quic-v1",
      "/ip4/192.0.2.1/tcp/9000/ws",
      "/ip4/192.0.2.1/tcp/9000",
    ].map((address) => multiaddr(address));
    const addressesFrom = (remote: string) =>
      identifiedAddresses({
        peerId: peerIdFromString(ID),
        listenAddrs,
        protocols: [],
        connection: { remoteAddr: multiaddr(remote) } as Connection,
      });
    expect(addressesFrom("/ip4/192.0.2.7/tcp/40000")).toEqual([`/ip4/192.0.2.1/tcp/9000/p2p/${ID}`]);
    const ofSite = multiaddr("/ip4/10.0.0.5/tcp/9000");
    listenAddrs.push(ofSite);
    expect(addressesFrom("/ip4/192.0.2.7/tcp/40000")).toEqual([`/ip4/192.0.2.1/tcp/9000/p2p/${ID}`]);
    expect(addressesFrom("/ip4/10.0.0.7/tcp/40000")).toEqual(
      ["192.0.2.1", "10.0.0.5"].map((ip) => `/ip4/${ip}/tcp/9000/p2p/${ID}`),
    );
    expect(addressesFrom("/ip4/127.0.0.1/tcp/40000")).toContain(`/ip4/127.0.0.1/tcp/8545/p2p/${ID}`);
  });
});
