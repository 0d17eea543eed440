import "./library.test.ts";
