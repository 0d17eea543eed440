import "./json-rpc-and-rest.test.ts";
