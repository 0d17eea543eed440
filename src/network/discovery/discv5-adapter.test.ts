import { type ENR, SignableENR } from "@chainsafe/enr";
import { expect, it, onTestFinished } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { createDiscv5, replaceEnr } from "./discv5-adapter.ts";
import { UdpTransport } from "./udp-transport.ts";

const keyOf = (seed: number) => new Uint8Array(32).fill(seed);

async function start(key: Uint8Array) {
  const record = SignableENR.createV4(key);
  const bind = { address: "127.0.0.1", port: 0 };
  const transport = new UdpTransport({ nodeId: record.nodeId, bind, logger: createRecordingLogger() });
  // If a request were not answered in time, the lookup would outlast the test.
  const options = { learnsAddress: false, lookupTimeoutMs: 3_600_000 };
  const discv5 = createDiscv5({ key, enrText: record.encodeTxt(), transport, ...options });
  await discv5.start();
  onTestFinished(() => discv5.stop());
  record.ip = bind.address;
  record.udp = transport.port;
  replaceEnr(discv5, record.encodeTxt(), key);
  return discv5;
}

it("survives signed ENRs with invalid addresses", async () => {
  const liar = await start(keyOf(1));
  const victim = await start(keyOf(2));
  const nonsense: Record<string, Uint8Array>[] = [
    { ip: new Uint8Array(16) },
    { ip: new Uint8Array(3) },
    { udp: Uint8Array.of(1, 2, 3) },
    { udp: Uint8Array.of(1) },
    { tcp: new Uint8Array() },
  ];
  const records = nonsense.map((entries, index) => {
    const kvs = { ip: Uint8Array.of(127, 0, 0, 1), udp: Uint8Array.of(1, 2), ...entries };
    return SignableENR.createV4(keyOf(10 + index), kvs).toENR();
  });
  for (const record of records) liar.addEnr(record);
  const received: string[] = [];
  victim.on("discovered", ({ nodeId }) => received.push(nodeId));
  victim.addEnr(liar.enr.toENR());
  for (const { nodeId } of records) {
    // This is the ENR that the bad node returns. On a busy machine, its first answer may time out.
    let found: ENR[] = [];
    while (found.length === 0) found = await victim.findNode(nodeId);
    expect(found.map((record) => record.nodeId)).toEqual([liar.enr.nodeId]);
  }
  expect(received).toEqual([]);
});
