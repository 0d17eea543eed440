import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { knownChain, participation, placedBlocks } from "../live.ts";
import { node } from "../node.ts";
import { hexPrefix, MAX_MATCHES, type Meaning, meaningsOf, SEARCH_HINT } from "../search.ts";
import { useLoaded } from "./loading.ts";

/** Debounce delay before public keys are requested. */
const TYPING_MILLIS = 150;

/** Search field with a list of results, following the ARIA combobox pattern. */
export function SearchField() {
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const meanings = useMeanings(typed);
  const visibleMeanings = isOpen ? meanings : [];
  const chosen = Math.min(active, visibleMeanings.length - 1);

  const close = () => setOpen(false);
  const clear = () => {
    setTyped("");
    close();
  };
  const go = (meaning: Meaning | undefined) => {
    if (!meaning) return;
    location.hash = meaning.href;
    clear();
  };
  useShortcut(field);
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !form.current?.contains(target)) close();
    };
    for (const type of ["pointerdown", "focusin"]) addEventListener(type, closeOutside);
    return () => {
      for (const type of ["pointerdown", "focusin"]) removeEventListener(type, closeOutside);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      event.preventDefault();
      clear();
    } else if (step !== undefined && meanings.length > 0) {
      event.preventDefault();
      setActive(isOpen ? (chosen + step + meanings.length) % meanings.length : 0);
      setOpen(true);
    }
  };
  const onInput = (event: Event) => {
    setTyped((event.currentTarget as HTMLInputElement).value);
    setActive(0);
    setOpen(true);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    go(meanings[Math.max(0, chosen)]);
  };
  return html`<form class="search" role="search" aria-label="Chain" ref=${form} onSubmit=${onSubmit}>
    <input type="text" role="combobox" ref=${field} placeholder="Slot, epoch, root, validator" aria-label=${SEARCH_HINT}
      title=${`${SEARCH_HINT} (press / to search)`} autocomplete="off" spellcheck=${false} value=${typed}
      aria-expanded=${visibleMeanings.length > 0} aria-controls="search-results" aria-autocomplete="list"
      aria-activedescendant=${visibleMeanings.length > 0 ? `search-result-${chosen}` : undefined}
      onInput=${onInput} onKeyDown=${onKeyDown} />
    <ul id="search-results" role="listbox" aria-label="Search results" hidden=${visibleMeanings.length === 0}>
      ${visibleMeanings.map(
        (meaning, index) => html`<li id=${`search-result-${index}`} role="option" aria-selected=${index === chosen}
          onPointerMove=${() => setActive(index)} onClick=${() => go(meaning)}>${meaning.label}</li>`,
      )}
    </ul>
    ${isOpen && typed.trim() !== "" && visibleMeanings.length === 0 && html`<p role="status">Nothing found. ${SEARCH_HINT}.</p>`}
  </form>`;
}

function useMeanings(typed: string): Meaning[] {
  const prefix = hexPrefix(typed);
  const keys = useLoaded(async (signal) => (prefix === undefined ? [] : readKeys(prefix, signal)), [prefix]);
  const chain = knownChain.value;
  if (!chain) return meaningsOf(typed);
  return meaningsOf(typed, {
    currentSlot: chain.time.slot,
    slotsPerEpoch: chain.slotsPerEpoch,
    validators: participation.value && Number(participation.value.validators),
    blocks: placedBlocks.value,
    keys: keys.value ?? [],
  });
}

async function readKeys(prefix: `0x${string}`, signal: AbortSignal) {
  await new Promise((resolve) => setTimeout(resolve, TYPING_MILLIS));
  signal.throwIfAborted();
  const query = { state_id: "head", limit: MAX_MATCHES, pubkey: prefix };
  const { validators } = await node.getValidatorPage(query, { signal });
  return validators.map(({ index, validator }) => ({ index, pubkey: validator.pubkey }));
}

/** Focuses the field when "/" is pressed, unless another field has the focus. */
function useShortcut(field: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = document.activeElement?.matches("input, textarea, select") ?? false;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
