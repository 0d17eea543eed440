import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { githubAnchor } from "./anchors.ts";
import { NAVIGATION, sidebar } from "./navigation.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

// scripts/docs-site.js copies this directory beside the pages.
export default defineConfig({
  title: "Fanal",
  description: "A beacon chain and an EVM for tests, a beacon node, and a gateway",
  ignoreDeadLinks: "localhostLinks",
  markdown: { html: false, attrs: { disable: true }, anchor: { slugify: githubAnchor } },
  vite: { esbuild: { target: "es2022" }, build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 } },
  themeConfig: {
    nav: NAVIGATION.map(({ text, link }) => ({ text, link })),
    sidebar: sidebar(path("../docs")),
    outline: [2, 3],
    search: { provider: "local" },
  },
});
