// Bundles the pages into the Python package. Nothing that they load comes from anywhere else.
import { build } from "esbuild";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/worldthread/web/static");

// The build goes to a folder of its own, in the same file system, and replaces the pages only when it succeeded.
const builds = join(here, "../build");
mkdirSync(builds, { recursive: true });
const fresh = mkdtempSync(join(builds, "pages-"));
chmodSync(fresh, 0o755);
process.on("exit", () => rmSync(fresh, { recursive: true, force: true }));

const result = await build({
  absWorkingDir: here,
  entryPoints: {
    memory: "src/memory/main.ts",
    runs: "src/runs/main.ts",
    play: "src/play/main.ts",
    layout: "src/memory/layout-worker.ts",
  },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
for (const page of readdirSync(join(here, "src/pages"))) cpSync(join(here, "src/pages", page), join(fresh, page));

// the licences of what was bundled go with it
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
  if (found) packages.add(found[1]);
}
const notices = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  const text = licence ? readFileSync(join(folder, licence), "utf8").trim() : `Licence: ${about.license}`;
  return `${about.name} ${about.version}\n\n${text}\n`;
});
writeFileSync(join(fresh, "licences.txt"), notices.join(`\n${"-".repeat(78)}\n\n`));

const replaced = `${fresh}-replaced`;
if (existsSync(target)) renameSync(target, replaced);
renameSync(fresh, target);
rmSync(replaced, { recursive: true, force: true });

const size = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
console.log(`pages for browsers: ${Math.round(size / 1024)} KB of scripts, with ${[...packages].join(", ")}`);
