// Writes docs/rest.md. Needs Node 24, as the program itself does.
import { ledger } from "./rest-doc/ledger.ts";
import { writeDocument } from "./write-document.ts";

const { text, operations } = ledger();
writeDocument("docs/rest.md", text, `${operations} operations`);
