import { Worker } from "node:worker_threads";
import { aggregateSignatures } from "@chainsafe/blst";
import {
  G2_POINT_AT_INFINITY,
  type ISignatureSet,
  interopSecretKeys,
  SignatureSetType,
} from "@lodestar/state-transition";
import { afterEach, describe, expect, it } from "vitest";
import { FlatPubkeys } from "./flat-pubkeys.ts";
import { type BlsVerifier, createBlsVerifier } from "./verifier.ts";

const secretKeys = interopSecretKeys(64);
const pubkeyCache = new FlatPubkeys();
secretKeys.forEach((secretKey, index) => {
  pubkeyCache.set(index, secretKey.toPublicKey().toBytes());
});

const messageOf = (value: number) => new Uint8Array(32).fill(value % 251);

function indexedSet(signer: number, message = messageOf(signer)): ISignatureSet {
  const signature = secretKeys[signer]!.sign(message).toBytes();
  return { type: SignatureSetType.indexed, index: signer, signingRoot: message, signature };
}

function manySets(count: number): ISignatureSet[] {
  return Array.from({ length: count }, (_, i) => indexedSet(i % secretKeys.length, messageOf(i)));
}

/** Replaces the signature with another key's valid signature over a different message. */
function spoil(set: ISignatureSet): ISignatureSet {
  return { ...set, signature: secretKeys[63]!.sign(messageOf(250)).toBytes() };
}

describe("BlsVerifier", () => {
  const opened: BlsVerifier[] = [];
  const open = (options: { pubkeyCache?: FlatPubkeys; threads?: number; startWorker?: () => Worker } = {}) => {
    const verifier = createBlsVerifier({ pubkeyCache, ...options });
    opened.push(verifier);
    return verifier;
  };
  afterEach(() => Promise.all(opened.splice(0).map((verifier) => verifier.close())));

  const noWorkers = () => {
    throw new Error("A small batch must not start a thread.");
  };
  const crashing = (started: Worker[]) => () => {
    const code = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(3));`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
    started.push(worker);
    return worker;
  };

  it("accepts an empty list", async () => {
    const verifier = open({ startWorker: noWorkers });
    expect(await verifier.verify([])).toBe(true);
    expect(await verifier.verifyEach([])).toEqual([]);
  });

  it("accepts single, indexed and aggregate sets, with shared or distinct messages, on the main thread", async () => {
    const verifier = open({ startWorker: noWorkers });
    const message = messageOf(99);
    const indices = [1, 5, 9];
    const signature = aggregateSignatures(indices.map((index) => secretKeys[index]!.sign(message))).toBytes();
    const aggregate: ISignatureSet = { type: SignatureSetType.aggregate, indices, signingRoot: message, signature };
    const single: ISignatureSet = {
      type: SignatureSetType.single,
      pubkey: secretKeys[7]!.toPublicKey(),
      signingRoot: message,
      signature: secretKeys[7]!.sign(message).toBytes(),
    };
    const sets = [aggregate, single, indexedSet(2, message), indexedSet(3)];
    expect(await verifier.verify(sets)).toBe(true);
    expect(await verifier.verify([{ ...aggregate, indices: [1, 5, 8] }])).toBe(false);
    expect(await verifier.verify([{ ...aggregate, indices: [] }])).toBe(false);
  });

  it("does not let two wrong signatures over one message cancel out", async () => {
    const verifier = open({ startWorker: noWorkers });
    const message = messageOf(5);
    const [first, second] = [indexedSet(1, message), indexedSet(2, message)];
    const swapped = [
      { ...first, signature: second.signature },
      { ...second, signature: first.signature },
    ];
    expect(await verifier.verify(swapped)).toBe(false);
    expect(await verifier.verifyEach([...swapped, indexedSet(3, message)])).toEqual([false, false, true]);
  });

  it("finds invalid signatures among valid ones", async () => {
    const verifier = open({ startWorker: noWorkers });
    const sets = manySets(13);
    for (const bad of [0, 6, 7, 12]) sets[bad] = spoil(sets[bad]!);
    expect(await verifier.verify(sets)).toBe(false);
    expect(await verifier.verifyEach(sets)).toEqual(sets.map((_, i) => ![0, 6, 7, 12].includes(i)));
  });

  it("treats malformed signatures and unknown validators as invalid", async () => {
    const verifier = open({ startWorker: noWorkers });
    const good = indexedSet(1);
    const malformed: ISignatureSet[] = [
      { ...good, signature: new Uint8Array(96) },
      { ...good, signature: new Uint8Array(96).fill(0xff) },
      { ...good, signature: new Uint8Array(0) },
      { ...good, signature: new Uint8Array(95) },
      { ...good, signature: G2_POINT_AT_INFINITY },
      { type: SignatureSetType.indexed, index: 5000, signingRoot: good.signingRoot, signature: good.signature },
      {
        type: SignatureSetType.aggregate,
        indices: [1, 5000],
        signingRoot: good.signingRoot,
        signature: good.signature,
      },
    ];
    for (const set of malformed) expect(await verifier.verify([good, set])).toBe(false);
    expect(await verifier.verifyEach([good, ...malformed, good])).toEqual([true, ...malformed.map(() => false), true]);
  });

  it("returns the same verdicts in worker threads as on the main thread", async () => {
    const started: Worker[] = [];
    const startWorker = () => {
      const worker = new Worker(new URL("./worker.ts", import.meta.url));
      started.push(worker);
      return worker;
    };
    const verifier = open({ threads: 2, startWorker });
    const sets = manySets(100);
    expect(await verifier.verify(sets)).toBe(true);
    expect(started).toHaveLength(2);

    const bad = new Set([3, 50, 51, 99]);
    const spoiled = sets.map((set, i) => (bad.has(i) ? spoil(set) : set));
    spoiled[20] = { ...spoiled[20]!, signature: new Uint8Array(96) };
    bad.add(20);
    expect(await verifier.verify(spoiled)).toBe(false);
    const inThreads = await verifier.verifyEach(spoiled);
    expect(inThreads).toEqual(sets.map((_, i) => !bad.has(i)));
    const onEventLoop: boolean[] = [];
    for (let i = 0; i < spoiled.length; i += 10) {
      onEventLoop.push(...(await verifier.verifyEach(spoiled.slice(i, i + 10))));
    }
    expect(inThreads).toEqual(onEventLoop);
    expect(started).toHaveLength(2);
  });

  it("runs the jobs of a dead thread itself and replaces the thread", async () => {
    const started: Worker[] = [];
    const verifier = open({ threads: 1, startWorker: crashing(started) });
    const sets = manySets(30);
    expect(await verifier.verify(sets)).toBe(true);
    expect(started).toHaveLength(1);
    sets[17] = spoil(sets[17]!);
    expect(await verifier.verifyEach(sets)).toEqual(sets.map((_, i) => i !== 17));
    expect(started).toHaveLength(2);
  });

  /** The first half of the keys is still compressed; `spoiled` makes one invalid. */
  const partlyCompressed = async (spoiled?: number) => {
    const pubkeys = secretKeys.map((secretKey) => ({ pubkey: secretKey.toPublicKey().toBytes() }));
    if (spoiled !== undefined) pubkeys[spoiled]!.pubkey.fill(0x9f);
    const flat = new FlatPubkeys();
    await flat.addAll(pubkeys.slice(0, 32));
    for (let index = 32; index < 64; index++) flat.set(index, pubkeys[index]!.pubkey);
    return flat;
  };

  it("aggregates keys in worker threads, or itself if they die", async () => {
    const message = messageOf(1);
    const signatures = secretKeys.map((secretKey) => secretKey.sign(message));
    const setOf = (count: number): ISignatureSet & { indices: number[] } => {
      const indices = Array.from({ length: count }, (_, i) => i % secretKeys.length);
      const signature = aggregateSignatures(indices.map((index) => signatures[index]!)).toBytes();
      return { type: SignatureSetType.aggregate, indices, signingRoot: message, signature };
    };
    const sets = [setOf(100), setOf(5500), setOf(1), indexedSet(2), setOf(500)];
    const withoutKeyIn = (spoiled: number) =>
      sets.map((set, i) => (i === spoiled && "indices" in set ? { ...set, indices: set.indices.slice(1) } : set));
    const started: Worker[] = [];
    const verifiers = [
      open({ threads: 2 }),
      open({ threads: 2, startWorker: crashing(started) }),
      open({ threads: 2, pubkeyCache: await partlyCompressed() }),
    ];
    for (const verifier of verifiers) {
      expect(await verifier.verify(sets)).toBe(true);
      for (const spoiled of [0, 1, 4]) {
        expect(await verifier.verifyEach(withoutKeyIn(spoiled))).toEqual(sets.map((_, i) => i !== spoiled));
      }
      const unknown = { ...setOf(1), indices: [0, secretKeys.length] };
      expect(await verifier.verifyEach([sets[1]!, unknown])).toEqual([true, false]);
    }
    expect(started.length).toBeGreaterThan(1);
  });

  it("rejects for an invalid registered key, wherever it is detected", async () => {
    const verifier = open({ threads: 1, pubkeyCache: await partlyCompressed(5) });
    const { signingRoot, signature } = indexedSet(5);
    const aggregateOf = (count: number): ISignatureSet => {
      const indices = Array.from({ length: count }, (_, i) => i % secretKeys.length);
      return { type: SignatureSetType.aggregate, indices, signingRoot, signature };
    };
    for (const set of [indexedSet(5), aggregateOf(64), aggregateOf(6400)]) {
      await expect(verifier.verify([set])).rejects.toThrow("of validator 5 is not a point of the curve");
    }
    expect(await verifier.verify(manySets(5))).toBe(true);
  });

  it("rejects pending and later calls once closed", async () => {
    const verifier = open({ threads: 1, startWorker: () => new Worker("setInterval(() => {}, 1000)", { eval: true }) });
    const underWay = verifier.verify(manySets(40));
    const refused = expect(underWay).rejects.toThrow("is closed");
    // The job is posted after key lookup, in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    await verifier.close();
    await refused;
    await expect(verifier.verify([indexedSet(1)])).rejects.toThrow("is closed");
    await expect(verifier.verifyEach([indexedSet(1)])).rejects.toThrow("is closed");
  });
});
