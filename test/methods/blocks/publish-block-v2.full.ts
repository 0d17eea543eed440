import "./publish-block-v2.test.ts";
