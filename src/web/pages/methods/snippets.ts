import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { asCurl, asFanalCall, asTypeScript, asViem } from "../../calls.ts";
import { node, url } from "../../node.ts";
import { CopyButton } from "../../parts/copy-button.ts";

interface SnippetsProps {
  method: string;
  values: readonly unknown[];
  named: Readonly<Record<string, unknown>>;
}

const FORMS: Readonly<Record<string, (call: SnippetsProps) => string>> = {
  curl: ({ method, values }) => asCurl(url, method, values),
  "fanal call": ({ method, values }) => asFanalCall(url, method, values),
  TypeScript: ({ method, named }) => asTypeScript(url, method, named, Object.hasOwn(node, method)),
  viem: ({ method, values }) => asViem(url, method, values),
};

/** Selected code format. Kept while other methods are shown. */
const chosen = signal("curl");

/** Shows the form's call as code. */
export function Snippets(props: SnippetsProps) {
  const text = FORMS[chosen.value]!(props);
  return html`<fieldset class="snippets">
    <legend>This call as code</legend>
    <div class="choices">
      ${Object.keys(FORMS).map(
        (form) =>
          html`<label><input type="radio" name="snippet" checked=${form === chosen.value} onChange=${() => {
            chosen.value = form;
          }} /> ${form}</label>`,
      )}
    </div>
    <${Snippet} text=${text} />
  </fieldset>`;
}

export function Snippet({ text }: { text: string }) {
  return html`<pre class="snippet" tabindex="0">${text}</pre><${CopyButton} text=${text} />`;
}
