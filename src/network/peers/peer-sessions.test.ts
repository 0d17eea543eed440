import { type fulu, ssz } from "@lodestar/types";
import { beforeEach, describe, expect, it } from "vitest";
import { FakeTimers, flushPromises } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { RequestError } from "../reqresp/errors.ts";
import { KnownPeers } from "./known-peers.ts";
import { PeerChain, startOf } from "./peer-chain.test-support.ts";
import { PeerSessions } from "./peer-sessions.ts";

describe("the session with a peer", () => {
  let timers: FakeTimers;
  let chain: PeerChain;
  let known: KnownPeers;
  let sessions: PeerSessions;
  let asked: string[];
  let drops: string[];
  let peer: { status: () => fulu.Status; sequence: bigint; silent: boolean };

  beforeEach(() => {
    timers = new FakeTimers();
    chain = new PeerChain({ slot: 5 });
    known = new KnownPeers();
    asked = [];
    drops = [];
    peer = { status: () => chain.status(), sequence: 7n, silent: false };
    const answer = async <T>(kind: string, value: () => T): Promise<T> => {
      asked.push(kind);
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

  /** What is asked while so many milliseconds pass. */
  async function askedWithin(ms: number): Promise<string[]> {
    asked.length = 0;
    await timers.advance(ms);
    return [...asked];
  }

  it("begins with the status when we dialled, and goes on with ping and metadata", async () => {
    sessions.begin("a", "outbound");
    expect(asked).toEqual(["status"]);
    expect(await askedWithin(0)).toEqual(["ping", "metadata"]);
    expect(sessions.get("a")?.relevant).toBe(true);
    expect(known.get("a")?.metadata?.seqNumber).toBe(7n);
  });

  it("waits for the status of a peer that dialled, and asks only when none comes", async () => {
    sessions.begin("told", "inbound");
    sessions.begin("silent", "inbound");
    await sessions.onStatus("told", chain.status());
    await flushPromises();
    expect(asked).toEqual(["ping", "metadata"]);
    expect(await askedWithin(4_000)).toEqual([]);
    expect(await askedWithin(1_000)).toEqual(["status", "ping", "metadata"]);
    expect(sessions.get("silent")?.relevant).toBe(true);
  });

  it("does not wait for the status when both have dialled", async () => {
    sessions.begin("a", "inbound");
    expect(asked).toEqual([]);
    sessions.begin("a", "outbound");
    expect(asked).toEqual(["status"]);
    await flushPromises();
    sessions.begin("a", "outbound");
    expect(asked).toEqual(["status", "ping", "metadata"]);
  });

  it("ends with a peer that never tells its status", async () => {
    peer.silent = true;
    sessions.begin("a", "outbound");
    await timers.advance(29_000);
    expect(drops).toEqual([]);
    await timers.advance(1_000);
    expect(drops).toEqual(["3 no status"]);
  });

  it("pings, fetches metadata when its number rose, and gives up after three silences", async () => {
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

  it("counts only silences in a row", async () => {
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

  it("renews the status with each epoch, and when asked to, but not without a pause", async () => {
    sessions.begin("a", "outbound");
    await flushPromises();
    for (let i = 0; i < 5; i++) sessions.refreshStatus("a");
    expect(await askedWithin(10_000)).toEqual(["status"]);
    chain.slot = startOf(1);
    expect(await askedWithin(10_000)).toContain("status");
    expect(await askedWithin(10_000)).not.toContain("status");
    expect(await askedWithin(5 * 60_000)).toContain("status");
  });

  it("ends with a peer of another chain, also when that shows only later", async () => {
    sessions.begin("a", "outbound");
    await flushPromises();
    const stranger = new PeerChain({ slot: 5, genesis: 9 });
    await sessions.onStatus("a", stranger.status());
    expect(drops).toEqual([expect.stringMatching(/^2 another fork digest/)]);
    expect(sessions.get("a")?.relevant).toBe(false);
  });

  it("has no more to say when the peer is gone", async () => {
    sessions.begin("a", "inbound");
    const checked = sessions.onStatus("a", chain.status());
    sessions.end("a");
    await checked;
    expect(sessions.get("a")).toBeUndefined();
    expect(await askedWithin(60_000)).toEqual([]);
  });
});
