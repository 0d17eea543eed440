import { html, render } from "htm/preact";
import { useState } from "preact/hooks";
import { connection, constants, follow, isDevChain, trouble, version } from "./live.ts";
import { useToken } from "./node.ts";
import { BlockPage } from "./pages/block.ts";
import { ChainPage } from "./pages/chain.ts";
import { ControlPage } from "./pages/control.ts";
import { EpochPage } from "./pages/epoch.ts";
import { ForkChoicePage } from "./pages/fork-choice.ts";
import { MethodsPage } from "./pages/methods.ts";
import { PeersPage } from "./pages/peers.ts";
import { PoolsPage } from "./pages/pools.ts";
import { StatePage } from "./pages/state.ts";
import { ValidatorPage } from "./pages/validator.ts";
import { route } from "./router.ts";
import { meaningsOf, SEARCH_HINT } from "./search.ts";

const PAGES = {
  "": ChainPage,
  block: BlockPage,
  epoch: EpochPage,
  validator: ValidatorPage,
  state: StatePage,
  pools: PoolsPage,
  peers: PeersPage,
  "fork-choice": ForkChoicePage,
  methods: MethodsPage,
  control: ControlPage,
};

const LINKS: readonly (readonly [page: string, name: string])[] = [
  ["", "Chain"],
  ["epoch", "Epoch"],
  ["state", "State"],
  ["pools", "Pools"],
  ["peers", "Peers"],
  ["fork-choice", "Fork choice"],
  ["methods", "Methods"],
];

function App() {
  const [page, subject] = route.value;
  const Page = Object.hasOwn(PAGES, page) ? PAGES[page as keyof typeof PAGES] : undefined;
  const links = isDevChain.value ? [...LINKS, ["control", "Control"] as const] : LINKS;
  return html`
    <header class="top">
      <a class="brand" href="#/"><img src="/web/icon.svg" alt="" width="24" height="24" />Fanal</a>
      <nav aria-label="Pages">
        ${links.map(([name, text]) => html`<a href=${`#/${name}`} aria-current=${name === page ? "page" : undefined}>${text}</a>`)}
      </nav>
      <${Search} />
    </header>
    <main tabindex="-1">
      <${Standing} />
      ${Page ? html`<${Page} subject=${subject} />` : html`<h1>Page not found</h1><p><a href="#/">The chain</a> is here.</p>`}
    </main>
    <footer>${version.value} ${constants.value?.network}</footer>`;
}

/** Shows a notice while the data may be outdated. */
function Standing() {
  if (connection.value === "token wanted") return html`<${TokenForm} />`;
  if (connection.value !== "lost") return null;
  return html`<p class="notice" role="status">The node does not respond; the data may be outdated. ${trouble.value}</p>`;
}

function TokenForm() {
  const [typed, setTyped] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    useToken(typed.trim());
  };
  return html`<form onSubmit=${submit}>
    <label>This node wants a token, which stands in the file of <code>--rpc-token-file</code>:
      <input type="password" value=${typed} autocomplete="off" onInput=${(event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)} />
    </label> <button type="submit">Use it</button>
  </form>`;
}

function Search() {
  const [typed, setTyped] = useState("");
  const meanings = meaningsOf(typed);
  const submit = (event: Event) => {
    event.preventDefault();
    const [first] = meanings;
    if (!first) return;
    location.hash = first.href;
    setTyped("");
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <input type="search" placeholder="Slot, epoch, root, validator" aria-label=${SEARCH_HINT} title=${SEARCH_HINT} value=${typed} autocomplete="off"
      onInput=${(event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)} />
    ${meanings.length > 0 && html`<ul>${meanings.map(({ label, href }) => html`<li><a href=${href} onClick=${() => setTyped("")}>${label}</a></li>`)}</ul>`}
    ${typed.trim() !== "" && meanings.length === 0 && html`<p role="status">${SEARCH_HINT}</p>`}
  </form>`;
}

const place = document.getElementById("app");
if (place) render(html`<${App} />`, place);
void follow();
