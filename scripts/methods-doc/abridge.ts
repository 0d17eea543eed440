const LONGEST_LINE = 100;
/** A root is shown whole; keys and signatures are cut. */
const LONGEST_HEX = 66;
const SHOWN_HEX = 22;
const MOST_ITEMS = 3;
const SHOWN_ITEMS = 2;
const MOST_MEMBERS = 24;
const SHOWN_MEMBERS = 10;

export interface Abridged {
  text: string;
  isWhole: boolean;
}

/** JSON for the eyes: indented, what fits on a line on one line, and long parts cut where a … stands. */
export function abridge(value: unknown): Abridged {
  let isWhole = true;
  const cut = (what: string) => {
    isWhole = false;
    return what;
  };

  function write(part: unknown, indent: string, used: number): string {
    if (typeof part === "string" && part.length > LONGEST_HEX && part.startsWith("0x")) {
      return cut(`"${part.slice(0, SHOWN_HEX)}…"`);
    }
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    const [open, close] = Array.isArray(part) ? ["[", "]"] : ["{", "}"];
    const inner = `${indent}  `;
    const items = Array.isArray(part) ? itemsOf(part, inner) : membersOf(part as Record<string, unknown>, inner);
    if (items.length === 0) return open + close;
    const padding = Array.isArray(part) ? "" : " ";
    const line = `${open}${padding}${items.join(", ")}${padding}${close}`;
    if (!line.includes("\n") && used + line.length <= LONGEST_LINE) return line;
    return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
  }

  function itemsOf(array: readonly unknown[], indent: string): string[] {
    const isLong = array.length > MOST_ITEMS;
    const shown = (isLong ? array.slice(0, SHOWN_ITEMS) : array).map((item) => write(item, indent, indent.length));
    return isLong ? [...shown, cut(`… ${array.length - SHOWN_ITEMS} more`)] : shown;
  }

  function membersOf(object: Record<string, unknown>, indent: string): string[] {
    const members = Object.entries(object);
    const isLong = members.length > MOST_MEMBERS;
    const shown = (isLong ? members.slice(0, SHOWN_MEMBERS) : members).map(([name, member]) => {
      const start = `${JSON.stringify(name)}: `;
      return start + write(member, indent, indent.length + start.length);
    });
    return isLong ? [...shown, cut(`… ${members.length - SHOWN_MEMBERS} more`)] : shown;
  }

  const text = write(value, "", 0);
  return { text, isWhole };
}
