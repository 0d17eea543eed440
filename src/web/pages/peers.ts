import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { counted, grouped, short } from "../format.ts";
import { node } from "../node.ts";
import { minor, minorNumeric, numeric } from "../parts/column.ts";
import { Fields, Table } from "../parts/fields.ts";
import { Show, useLoaded } from "../parts/loading.ts";

/** Polling interval, since there are no events for peers. */
const REFRESH_MILLIS = 5000;

type Peers = Awaited<ReturnType<typeof node.get_v1_node_peers>>;

export function PeersPage() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTurn((before) => before + 1), REFRESH_MILLIS);
    return () => clearInterval(timer);
  }, []);
  const identity = useLoaded((signal) => node.get_v1_node_identity({}, { signal }), []);
  const peers = useLoaded((signal) => node.get_v1_node_peers({}, { signal }), [turn]);
  const details = useLoaded(
    async (signal) => new Map((await node.peers({}, { signal })).peers.map((peer) => [peer.id, peer])),
    [turn],
  );
  const topics = useLoaded(async (signal) => countTopics(await node.debug_getGossipSubPeers({}, { signal })), [turn]);
  return html`<h1>Peers</h1>
    <${Show} of=${identity}>
      ${(value: NonNullable<typeof identity.value>) =>
        html`<${Fields} of=${{
          "Peer ID": html`<code>${value.peer_id}</code>`,
          ENR: html`<code>${value.enr}</code>`,
          "Reached at":
            value.p2p_addresses.length === 0
              ? undefined
              : value.p2p_addresses.map((address) => html`<div><code>${address}</code></div>`),
        }} />`}
    <//>
    <${Show} of=${peers}>
      ${(value: Peers) => html`${value.length > 0 && html`<p>${summaryOf(value)}</p>`}
      <${Table} caption="Peers" empty="The node has no peers." head=${["peer", "state", "direction", minor("agent"), numeric("score"), minorNumeric("topics"), minor("address")]}
        rows=${value.map((peer) => {
          const more = details.value?.get(peer.peer_id);
          return [
            html`<code title=${peer.peer_id}>${short(peer.peer_id)}</code>`,
            peer.state,
            peer.direction,
            more?.info.agentVersion ?? "–",
            more?.score ?? "–",
            topics.value?.get(peer.peer_id) ?? "–",
            html`<code>${peer.last_seen_p2p_address}</code>`,
          ];
        })} />`}
    <//>`;
}

function summaryOf(peers: Peers): string {
  const connected = peers.filter(({ state }) => state === "connected");
  const inbound = connected.filter(({ direction }) => direction === "inbound").length;
  const outbound = connected.length - inbound;
  return `${counted(connected.length, "connected peer")}: ${grouped(inbound)} inbound, ${grouped(outbound)} outbound.`;
}

type Gossip = Awaited<ReturnType<typeof node.debug_getGossipSubPeers>>;

/** Counts each peer's gossip topics. */
function countTopics({ gossipsub }: Gossip): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { peerId } of Object.values(gossipsub).flat()) counts.set(peerId, (counts.get(peerId) ?? 0) + 1);
  return counts;
}
