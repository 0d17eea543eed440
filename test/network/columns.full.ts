import "./columns.test.ts";
