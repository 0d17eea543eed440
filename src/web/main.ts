import { html, render } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { connection, constants, follow, hasEvm, isDevChain, trouble, version } from "./live.ts";
import { useToken } from "./node.ts";
import { PAGES } from "./page-table.ts";
import { HeadAnnouncement } from "./parts/head-announcement.ts";
import { Page } from "./parts/page.ts";
import { SearchField } from "./parts/search-field.ts";
import { route } from "./router.ts";

const LINKS = Object.entries(PAGES).flatMap(([name, { link }]) => (link === undefined ? [] : [[name, link] as const]));

function App() {
  const [page, subject] = route.value;
  const path = ["", page, subject].filter((part) => part !== undefined).join("/");
  const section = Object.hasOwn(PAGES, page) ? (PAGES[page]!.section ?? page) : undefined;
  const links = [
    ...LINKS,
    ...(hasEvm.value ? [["execution", "Execution"] as const] : []),
    ...(isDevChain.value ? [["control", "Control"] as const] : []),
  ];
  useEffect(() => {
    // On narrow screens, the links scroll in a single row.
    const marked = document.querySelector("nav [aria-current]") ?? document.querySelector("nav a");
    marked?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [section, links.length]);
  return html`
    <a class="skip" href="#main" onClick=${skipToMain}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="#/"><img src="/web/icon.svg" alt="" width="24" height="24" />Fanal</a>
      <nav aria-label="Pages">
        ${links.map(([name, text]) => html`<a href=${`#/${name}`} aria-current=${name === page ? "page" : name === section ? "true" : undefined}>${text}</a>`)}
      </nav>
      <${SearchField} />
    </header>
    <main id="main" tabindex="-1">
      <${ConnectionNotice} />
      ${Object.hasOwn(PAGES, page) ? html`<${Page} name=${page} subject=${subject} />` : html`<${NotFound} path=${path} />`}
    </main>
    <${HeadAnnouncement} />
    <footer>${[version.value, constants.value?.network].filter(Boolean).join(" · ")}</footer>`;
}

/** Moves the focus without changing the address, whose hash is the route. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function NotFound({ path }: { path: string }) {
  useEffect(() => {
    document.title = "Page not found · Fanal";
  }, []);
  return html`<h1>Page not found</h1><p>No page at ${path}. <a href="#/">Go to the chain</a></p>`;
}

/** Shows a notice while the displayed data may be out of date. */
function ConnectionNotice() {
  switch (connection.value) {
    case "token required":
      return html`<${TokenForm} />`;
    case "rejected":
      return html`<p class="notice" role="status">The server rejects calls from this page. ${trouble.value}</p>`;
    case "lost":
      return html`<p class="notice" role="status">The node does not respond, so the data may be outdated. ${trouble.value}</p>`;
    default:
      return null;
  }
}

function TokenForm() {
  const [typed, setTyped] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    useToken(typed.trim());
  };
  return html`<form onSubmit=${submit}>
    <label>This server requires a key: a node's token (<code>--rpc-token-file</code>) or a gateway's client key.
      <input type="password" value=${typed} autocomplete="off" onInput=${(event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)} />
    </label> <button type="submit">Use the key</button>
  </form>`;
}

const container = document.getElementById("app");
if (container) render(html`<${App} />`, container);
void follow();
