import { multiaddr } from "@multiformats/multiaddr";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const connections = ({ networking }: TestNode) => networking.network.host.getConnections();

it("a banned peer is refused after a restart, also as a dial target", { timeout: 60_000 }, async () => {
  const network = new TestNetwork({ validators: 8 });
  const directory = tempDirectory();
  const offender = await network.add([]);
  const node = await network.add([], [offender], { directory });
  await network.untilConnected();
  node.networking.network.peers.penalize(offender.peerId, "fatal", "a forged block");
  await node.close();

  const restarted = await network.add([], [offender], { directory });
  const { host, peers } = restarted.networking.network;
  expect(peers.scores.standing(offender.peerId)).toBe("banned");
  await expect(host.dial(multiaddr(offender.address))).rejects.toThrow();
  const opened: unknown[] = [];
  host.addEventListener("connection:open", (event) => opened.push(event));
  const inbound = await offender.networking.network.host
    .dial(multiaddr(restarted.address), { force: true })
    .catch(() => undefined);
  if (inbound?.status === "open") await new Promise((resolve) => inbound.addEventListener("close", resolve));
  expect(opened).toEqual([]);
  expect(connections(restarted)).toEqual([]);
});
