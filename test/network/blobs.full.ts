import "./blobs.test.ts";
