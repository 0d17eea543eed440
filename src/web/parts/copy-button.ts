import { html } from "htm/preact";
import { useState } from "preact/hooks";

const SHOWN_MILLIS = 2500;

/** Copies a text and briefly shows the outcome. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState("");
  const copy = async () => {
    try {
      // The clipboard is available only on localhost and on https pages.
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      setOutcome("The browser does not allow copying");
    }
    setTimeout(() => setOutcome(""), SHOWN_MILLIS);
  };
  return html`<button type="button" onClick=${() => void copy()}><span aria-live="polite">${outcome || label}</span></button>`;
}
