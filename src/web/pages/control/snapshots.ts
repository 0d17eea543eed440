import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { chainHead } from "../../live.ts";
import { node } from "../../node.ts";
import { BlockLink, SlotLink } from "../../parts/links.ts";
import { Show, useLoaded } from "../../parts/loading.ts";
import { actionCount, perform } from "./perform.ts";

type SnapshotList = Awaited<ReturnType<typeof node.dev_getSnapshots>>;

/** Lists the chain's snapshots, newest first, including those taken by other clients. */
export function Snapshots() {
  const [isBusy, setBusy] = useState(false);
  const snapshots = useLoaded(
    (signal) => node.dev_getSnapshots({}, { signal }),
    [actionCount.value, chainHead.value?.head_block_root],
  );
  const act = async (method: string, params = {}) => {
    setBusy(true);
    await perform(method, params);
    setBusy(false);
  };
  return html`<h2>Snapshots</h2>
    <button type="button" disabled=${isBusy} onClick=${() => void act("dev_snapshot")}>Take a snapshot</button>
    <${Show} of=${snapshots}>
      ${(list: SnapshotList) =>
        list.length === 0
          ? html`<p class="waiting">No snapshot has been taken. A revert restores the whole chain, also across finality.</p>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="Snapshots">
              <table>
                <thead><tr><th scope="col">id</th><th scope="col">slot</th><th scope="col">head</th><th scope="col">action</th></tr></thead>
                <tbody>
                  ${list.toReversed().map(
                    ({ id, slot, head_block_root: root }) => html`<tr key=${id}>
                      <th scope="row">${id}</th>
                      <td><${SlotLink} slot=${slot} /></td>
                      <td><${BlockLink} root=${root} /></td>
                      <td><button type="button" disabled=${isBusy} aria-label=${`Revert to ${id}`} onClick=${() => void act("dev_revert", { id })}>Revert</button></td>
                    </tr>`,
                  )}
                </tbody>
              </table>
            </div>`}
    <//>`;
}
