import { type fulu, ssz } from "@lodestar/types";
import { beforeEach, describe, expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { PeerChain, startOf } from "../../../test/support/network/peers/peer-chain.ts";
import { FakeTimers, flushPromises } from "../../../test/support/time/fake-timers.ts";
import { RequestError } from "../reqresp/errors.ts";
import { KnownPeers } from "./known-peers.ts";
import { PeerSessions } from "./peer-sessions.ts";

describe("PeerSessions", () => {
  let timers: FakeTimers;
  let chain: PeerChain;
  let known: KnownPeers;
  let sessions: PeerSessions;
  let requests: string[];
  let drops: string[];
  let peer: { status: () => fulu.Status; sequence: bigint; silent: boolean };

  beforeEach(() => {
    timers = new FakeTimers();
    chain = new PeerChain({ slot: 5 });
    known = new KnownPeers();
    requests = [];
    drops = [];
    peer = { status: () => chain.status(), sequence: 7n, silent: false };
    const answer = async <T>(kind: string, value: () => T): Promise<T> => {
      requests.push(kind);
      if (peer.silent) throw new RequestError("timeout", "The peer did not answer in time.");
      return value();
    };
    sessions = new PeerSessions({
      requests: {
        status: () => answer("status", () => peer.status()),
        ping: () => answer("ping", () => peer.sequence),
        metadata: () => answer("metadata", () => ({ ...ssz.fulu.Metadata.defaultValue(), seqNumber: peer.sequence })),
      },
      chain,
      known,
      timers,
      logger: createRecordingLogger(),
      changed: () => {},
      drop: (_, reason, why) => drops.push(`${reason} ${why}`),
    });
    timers.every(1_000, () => sessions.tick());
  });

  /** Advances the time. Returns the requests that were sent. */
  async function askedWithin(ms: number): Promise<string[]> {
    requests.length = 0;
    await timers.advance(ms);
    return [...requests];
  }

  it("sends status, ping and metadata after dialing", async () => {
    sessions.begin("a", "outbound");
    expect(requests).toEqual(["status"]);
    expect(await askedWithin(0)).toEqual(["ping", "metadata"]);
    expect(sessions.get("a")?.relevant).toBe(true);
    expect(known.get("a")?.metadata?.seqNumber).toBe(7n);
  });

  it("requests the status of an inbound peer only after a grace period", async () => {
    sessions.begin("reported", "inbound");
    sessions.begin("silent", "inbound");
    await sessions.onStatus("reported", chain.status());
    await flushPromises();
    expect(requests).toEqual(["ping", "metadata"]);
    expect(await askedWithin(4_000)).toEqual([]);
    expect(await askedWithin(1_000)).toEqual(["status", "ping", "metadata"]);
    expect(sessions.get("silent")?.relevant).toBe(true);
  });

  it("requests the status at once after simultaneous dials", async () => {
    sessions.begin("a", "inbound");
    expect(requests).toEqual([]);
    sessions.begin("a", "outbound");
    expect(requests).toEqual(["status"]);
    await flushPromises();
    sessions.begin("a", "outbound");
    expect(requests).toEqual(["status", "ping", "metadata"]);
  });

  it("disconnects a peer without a status", async () => {
    peer.silent = true;
    sessions.begin("a", "outbound");
    await timers.advance(29_000);
    expect(drops).toEqual([]);
    await timers.advance(1_000);
    expect(drops).toEqual(["3 no status"]);
  });

  it("pings, refreshes newer metadata, and disconnects after three missed pings", async () => {
    sessions.begin("a", "outbound");
    await flushPromises();
    expect(await askedWithin(19_000)).toEqual([]);
    expect(await askedWithin(2_000)).toEqual(["ping"]);
    peer.sequence = 8n;
    expect(await askedWithin(20_000)).toEqual(["ping", "metadata"]);
    sessions.onPing("a", 8n);
    peer.sequence = 9n;
    sessions.onPing("a", 9n);
    await flushPromises();
    expect(known.get("a")?.metadata?.seqNumber).toBe(8n);
    await timers.advance(5_000);
    sessions.onPing("a", 9n);
    await flushPromises();
    expect(known.get("a")?.metadata?.seqNumber).toBe(9n);
    peer.silent = true;
    expect(await askedWithin(40_000)).toEqual(expect.arrayContaining(["ping", "ping", "ping"]));
    expect(drops[0]).toBe("3 no answer to pings");
  });

  it("counts only consecutive missed pings", async () => {
    sessions.begin("a", "outbound");
    await flushPromises();
    for (let i = 0; i < 5; i++) {
      peer.silent = true;
      expect(await askedWithin(27_000)).toEqual(["ping", "ping"]);
      peer.silent = false;
      expect(await askedWithin(3_000)).toEqual(["ping"]);
    }
    expect(drops).toEqual([]);
  });

  it("refreshes the status every epoch and on request, with a minimum interval", async () => {
    sessions.begin("a", "outbound");
    await flushPromises();
    for (let i = 0; i < 5; i++) sessions.refreshStatus("a");
    expect(await askedWithin(10_000)).toEqual(["status"]);
    chain.slot = startOf(1);
    expect(await askedWithin(10_000)).toContain("status");
    expect(await askedWithin(10_000)).not.toContain("status");
    expect(await askedWithin(5 * 60_000)).toContain("status");
  });

  it("disconnects a peer of another chain, also later in the session", async () => {
    sessions.begin("a", "outbound");
    await flushPromises();
    const stranger = new PeerChain({ slot: 5, genesis: 9 });
    await sessions.onStatus("a", stranger.status());
    expect(drops).toEqual([expect.stringMatching(/^2 different fork digest/)]);
    expect(sessions.get("a")?.relevant).toBe(false);
  });

  it("sends nothing after the peer has disconnected", async () => {
    sessions.begin("a", "inbound");
    const checked = sessions.onStatus("a", chain.status());
    sessions.end("a");
    await checked;
    expect(sessions.get("a")).toBeUndefined();
    expect(await askedWithin(60_000)).toEqual([]);
  });
});
