import { html, render } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { connection, constants, follow, isDevChain, trouble, version } from "./live.ts";
import { useToken } from "./node.ts";
import { PAGES } from "./page-table.ts";
import { Page } from "./parts/page.ts";
import { route } from "./router.ts";
import { meaningsOf, SEARCH_HINT } from "./search.ts";

const LINKS = Object.entries(PAGES).flatMap(([name, { link }]) => (link === undefined ? [] : [[name, link] as const]));

function App() {
  const [page, subject] = route.value;
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
      ${Object.hasOwn(PAGES, page) ? html`<${Page} name=${page} subject=${subject} />` : html`<${NotFound} />`}
    </main>
    <footer>${version.value} ${constants.value?.network}</footer>`;
}

function NotFound() {
  useEffect(() => {
    document.title = "Page not found · Fanal";
  }, []);
  return html`<h1>Page not found</h1><p><a href="#/">The chain</a> is here.</p>`;
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
